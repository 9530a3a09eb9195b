/**
 * A function in the place of a client's `send` says by this symbol that requests may go past it. It names the former `send`,
 * and prepares the client. The simulator does so, and handlers run in it as they run on AWS.
 */
export const PASSABLE: unique symbol = Symbol.for("onceonly.passableSend") as never;

export interface PassableSend {
  readonly [PASSABLE]?: { readonly send: unknown; prepare(client: object): void };
}
