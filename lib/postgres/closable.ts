/** The client that `writes` get: it refuses statements once the transaction is over. */
import { CommitInvalidError } from "../core/errors.ts";

export interface Closable<Client> {
  readonly client: Client;
  readonly isClosed: () => boolean;
  close(): void;
}

/** A statement that comes later would be a part of somebody else's transaction on the same connection. */
export function closable<Client extends object>(given: Client): Closable<Client> {
  let isClosed = false;
  const check = () => {
    if (!isClosed) return;
    throw new CommitInvalidError(
      "the client of `writes` was used after its transaction: await each statement before the function ends",
    );
  };
  const client = new Proxy(given, {
    get(target, name, receiver) {
      if (name === "query" || name === "unsafe") check();
      return Reflect.get(target, name, receiver);
    },
    apply(target, self, values) {
      check();
      return Reflect.apply(target as never, self, values);
    },
  });
  return {
    client,
    isClosed: () => isClosed,
    close: () => {
      isClosed = true;
    },
  };
}
