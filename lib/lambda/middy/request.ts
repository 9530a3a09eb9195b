/** The part of a Middy request that we use, in the form that versions 6 and 7 share. Loads nothing from Middy. */

export interface MiddyRequest<Event = unknown, Context = unknown> {
  event: Event;
  context: Context;
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
    // A handler's own error with throwing getters: it reaches the caller unchanged.
    return false;
  }
}
