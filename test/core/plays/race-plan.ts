/** What a call of a race does, and what befalls its requests. */
import fc from "fast-check";

/** What becomes of one request to the store. */
const FATES = [
  "answered",
  "failed",
  "answer-lost",
  "answer-lost-and-sent-again",
  "crash-before",
  "crash-after",
] as const;

export interface CallPlan {
  /** `unprotected` is the claimed mode with `whenStoreFails: "run"`. */
  readonly mode: "claimed" | "optimistic" | "unprotected";
  readonly work: "effect" | "commit";
  readonly end: "value" | "error" | "final-error" | "never";
  /** Whether the handler, when its commit fails, tries another one. */
  readonly isStubborn: boolean;
  readonly waits: boolean;
  /** How much else may happen before the call begins, and while it works. */
  readonly idles: number;
  readonly works: number;
  /** One per request, in order; later requests are answered. */
  readonly fates: readonly (typeof FATES)[number][];
}

const callPlan = (
  modes: readonly CallPlan["mode"][],
  works: readonly CallPlan["work"][],
): fc.Arbitrary<CallPlan> =>
  fc.record({
    mode: fc.constantFrom(...modes),
    work: fc.constantFrom(...works),
    end: fc.constantFrom("value", "value", "value", "error", "final-error", "never"),
    isStubborn: fc.boolean(),
    waits: fc.boolean(),
    idles: fc.nat(16),
    works: fc.nat(12),
    fates: fc.array(
      fc.oneof({ weight: 3, arbitrary: fc.constant("answered" as const) }, fc.constantFrom(...FATES)),
      { maxLength: 4 },
    ),
  });

/** Two to four calls with one key. */
export const callPlans = (modes: CallPlan["mode"][], works: CallPlan["work"][]) =>
  fc.array(callPlan(modes, works), { minLength: 2, maxLength: 4 });
