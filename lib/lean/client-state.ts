/** What a client remembers from one request to the next, but for its credentials. */

/** Tokens that retries are paid with, so that they end where nothing but retries is sent. */
export const FULL_BUDGET = 500;

/**
 * Requests carry the client's state under this name, which Node does not know. A simulation with several hosts stands
 * between requests and the network, and can keep the state apart for each host.
 */
export const CLIENT_STATE = Symbol.for("onceonly.clientState");

export interface ClientState {
  tokens: number;
  offsetMs: number;
}
