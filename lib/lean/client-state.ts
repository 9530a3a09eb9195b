/** What a client remembers from one request to the next, but for its credentials. */

/** Tokens that retries are paid with, so that they end where nothing but retries is sent. */
export const FULL_BUDGET = 500;

/**
 * Requests carry it under this name, which Node does not know: whoever stands between them and the network, as a simulation
 * with several hosts does, can keep it apart for each of them.
 */
export const CLIENT_STATE = Symbol.for("onceonly.clientState");

export interface ClientState {
  tokens: number;
  offsetMs: number;
}
