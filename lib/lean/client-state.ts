/** The state that a client keeps from one request to the next, except its credentials. */

/** Tokens that pay for retries, so that retries stop when nothing else succeeds. */
export const FULL_BUDGET = 500;

/**
 * Requests carry the client's state under this name, which Node ignores. A simulation with several hosts sits between requests
 * and the network, and can keep the state separate for each host.
 */
export const CLIENT_STATE = Symbol.for("onceonly.clientState");

export interface ClientState {
  tokens: number;
  offsetMs: number;
}
