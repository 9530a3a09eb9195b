/**
 * Whoever puts a function in the place of a client's `send` may say by this that requests may go past it: which function was
 * there, and what is to be done to the client first. The simulator does, so that handlers run in it as they run on AWS.
 */
export const PASSABLE: unique symbol = Symbol.for("onceonly.passableSend") as never;

export interface PassableSend {
  readonly [PASSABLE]?: { readonly send: unknown; prepare(client: object): void };
}
