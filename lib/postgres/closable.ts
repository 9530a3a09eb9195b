/** The client that `writes` get: it refuses statements once the transaction is over. */
import { CommitInvalidError } from "../core/errors.ts";

/** The methods of `pg` and postgres.js that run statements. */
const RUNS = new Set<string | symbol>(["query", "unsafe", "file", "savepoint", "prepare"]);

export interface Closable<Client> {
  readonly client: Client;
  close(): void;
}

/**
 * A statement that comes later would be a part of somebody else's transaction on the same connection.
 * @param refused `statements`: of a client of PostgreSQL, what runs statements. `everything`: of what builds statements, too.
 */
export function closable<Client extends object>(
  given: Client,
  refused: "statements" | "everything" = "statements",
): Closable<Client> {
  let isClosed = false;
  const check = () => {
    if (!isClosed) return;
    throw new CommitInvalidError(
      "the client of `writes` was used after its transaction: await each statement before the function ends",
    );
  };
  const client = new Proxy(given, {
    get(target, name, receiver) {
      if (refused === "statements") {
        if (RUNS.has(name)) check();
        return Reflect.get(target, name, receiver);
      }
      check();
      // A method with private fields does not work on a proxy.
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
