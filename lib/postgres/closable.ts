/** The client passed to `writes`: it refuses statements once the transaction has ended. */
import { CommitInvalidError } from "../core/errors.ts";

/** The methods of `pg` and postgres.js that run statements. */
const RUNS = new Set<string | symbol>(["query", "unsafe", "file", "savepoint", "prepare"]);

export interface Closable<Client> {
  readonly client: Client;
  close(): void;
}

/**
 * A later statement would become part of another call's transaction on the same connection.
 * @param refused `statements`: for a PostgreSQL client, the methods that run statements. `everything`: also the methods that
 * build them.
 */
export function closable<Client extends object>(
  given: Client,
  refused: "statements" | "everything" = "statements",
): Closable<Client> {
  let isClosed = false;
  const check = () => {
    if (!isClosed) return;
    throw new CommitInvalidError(
      "the client in `writes` was used after its transaction had ended: await each statement before the function returns",
    );
  };
  const client = new Proxy(given, {
    get(target, name, receiver) {
      if (refused === "statements") {
        if (RUNS.has(name)) check();
        return Reflect.get(target, name, receiver);
      }
      check();
      // Methods that use private fields don't work on a proxy.
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
    apply(target, self, values) {
      check();
      return Reflect.apply(target as never, self, values);
    },
  });
  return {
    client,
    close: () => {
      isClosed = true;
    },
  };
}
