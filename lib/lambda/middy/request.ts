/** What is used of Middy: its types, and of its request what versions 6 and 7 have in common. Loads nothing of it. */

type MiddyContext = NonNullable<
  Parameters<
    NonNullable<import("@middy/core", { with: { "resolution-mode": "import" }}).MiddlewareObj["before"]>
  >
>[0]["context"];

/** Middy's own type of a middleware. */
export type MiddlewareObj<
  Event = unknown,
  Context extends MiddyContext = MiddyContext,
> = import("@middy/core", { with: { "resolution-mode": "import" }}).MiddlewareObj<
  Event,
  unknown,
  Error,
  Context
>;

export interface MiddyRequest {
  event: unknown;
  context: unknown;
  response: unknown;
  /** Its presence, not its value, makes Middy skip the rest of the stack. */
  earlyResponse?: unknown;
  error: unknown;
}

/** Middy gave up waiting for the handler, which may still be running. */
export function isEarlyTimeout(error: unknown): boolean {
  try {
    const failure = error as { name?: unknown; cause?: { package?: unknown } } | null | undefined;
    return failure?.name === "TimeoutError" && failure.cause?.package === "@middy/core";
  } catch {
    // A handler's own error, whose getters throw: it reaches the caller as it is.
    return false;
  }
}
