/** The port between the store and a client of Valkey or Redis. An adapter makes one of a user's client; no client is imported. */

export interface ValkeyClient {
  /**
   * Sends one command to the primary that has `key`, and resolves to its reply: texts, numbers and lists of them. Rejects with the
   * client's own error.
   */
  send(key: string, command: readonly string[]): Promise<unknown>;

  /**
   * Sends commands one after the other over one connection to the primary that has `key`, and resolves to their replies. Rejects
   * with the first error, redirections of a cluster included. It never sends one of them to another node, or over another
   * connection, than those before it: `WAIT` only counts the replicas of its own connection's writes. A client without this method
   * can't wait for replicas.
   */
  sendTogether?:
    | ((key: string, commands: readonly (readonly string[])[]) => Promise<readonly unknown[]>)
    | undefined;
}
