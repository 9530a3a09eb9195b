/** The port between the store and a Valkey or Redis client. An adapter wraps the caller's client; this library imports none. */

export interface ValkeyClient {
  /**
   * Sends one command to the primary that has `key`, and resolves to its reply: strings, numbers and lists of them. Rejects with
   * the client's own error.
   */
  send(key: string, command: readonly string[]): Promise<unknown>;

  /**
   * Sends commands in order over one connection to the primary that has `key`, and resolves to their replies. Rejects with the
   * first error, including cluster redirections. It never sends a command to another node, or over another connection, than the
   * previous ones: `WAIT` only counts replicas for writes on its own connection. A client without this method can't wait for
   * replicas.
   */
  sendTogether?:
    | ((key: string, commands: readonly (readonly string[])[]) => Promise<readonly unknown[]>)
    | undefined;
}
