/** The port between the store and a client of Valkey or Redis. An adapter makes one of a user's client; no client is imported. */

export interface ValkeyClient {
  /**
   * Sends one command to the primary that has `key`, and resolves to its reply: texts, numbers and lists of them. Rejects with the
   * client's own error.
   */
  send(key: string, command: readonly string[]): Promise<unknown>;

  /**
   * Sends commands one behind the other over one connection to the primary that has `key`, and resolves to their replies. Rejects
   * with the first error. None is sent over another connection than those before it. A client without this
   * method cannot wait for replicas.
   */
  sendTogether?:
    | ((key: string, commands: readonly (readonly string[])[]) => Promise<readonly unknown[]>)
    | undefined;
}
