/** How one invocation of a simulated function ended, from its caller's view. */

interface InvocationIdentity {
  /** Counts from 1, in the order in which a simulator's functions start. */
  readonly number: number;
  readonly hostId: string;
  readonly requestId: string;
}

export type InvocationOutcome =
  /** `value` went through JSON, as Lambda's answers do. */
  | { readonly outcome: "returned"; readonly value: unknown }
  | { readonly outcome: "threw"; readonly error: unknown }
  | { readonly outcome: "timed-out" }
  | { readonly outcome: "crashed" };

export type Invocation = InvocationIdentity & InvocationOutcome;

/** The returned value as JSON; `undefined` when nothing was returned. */
export function answerIn(invocation: Invocation): string | undefined {
  return invocation.outcome === "returned" ? JSON.stringify(invocation.value) : undefined;
}
