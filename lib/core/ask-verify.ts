/** Asks `verify` about an abandoned attempt, with a time limit, and reads the answer. */
import { answerWithin } from "./answer-within.ts";
import type { Clock } from "./clock.ts";
import { InvalidOptionError } from "./errors.ts";
import type { AbandonedRecord, Verification } from "./verify.ts";

/** A verdict, and the values to record. */
export interface Verified extends Pick<Verification, "outcome" | "evidence"> {
  /** The encoded result of the effect. */
  readonly text?: string | undefined;
  /** Why the outcome is unknown. */
  readonly error?: unknown;
}

interface Asking {
  /** The option that holds the user's function: errors name it. */
  readonly option: string;
  readonly clock: Clock;
  /** How long to wait for an answer. */
  readonly patienceMs: number;
  /** Encodes the result of the effect; absent if no result is stored. */
  readonly encode?: ((result: unknown) => string | undefined) | undefined;
}

/** Never rejects: an error, a late answer and an invalid one count as `unknown`. */
export async function askVerify<Previous extends AbandonedRecord>(
  verify: (previous: Previous) => Verification | Promise<Verification>,
  previous: Omit<Previous, "signal">,
  { option, clock, patienceMs, encode }: Asking,
): Promise<Verified> {
  const asking = new AbortController();
  const late = () => {
    const error = Object.assign(new Error("verify did not answer in time"), { name: "TimeoutError" });
    asking.abort(error);
    return error;
  };
  const answer = async () => verify({ ...previous, signal: asking.signal } as Previous);
  try {
    return verifiedOf(await answerWithin(clock, patienceMs, answer(), late), option, encode);
  } catch (error) {
    return { outcome: "unknown", evidence: { answered: `threw ${errorNameOf(error)}` }, error };
  }
}

/** @throws InvalidOptionError for an invalid verdict, ResponseNotStorableError for a result that can't be replayed. */
function verifiedOf(answer: unknown, option: string, encode: Asking["encode"]): Verified {
  const { outcome, evidence, result } = Object(answer) as Partial<Verification> & { result?: unknown };
  if (outcome !== "happened" && outcome !== "did-not-happen" && outcome !== "unknown") {
    throw new InvalidOptionError(
      option,
      'must return { outcome: "happened", result }, { outcome: "did-not-happen" } or { outcome: "unknown" }',
      answer,
    );
  }
  if (outcome !== "happened" || !encode) return { outcome, evidence };
  if (!("result" in Object(answer))) {
    throw new InvalidOptionError(
      option,
      "must return the `result` that every caller gets along with `happened`: pass `undefined` if there is none",
      answer,
    );
  }
  return { outcome, evidence, text: encode(result) };
}

/** An error's message may contain a payload, and so may its name. */
export function errorNameOf(error: unknown): string {
  const { name } = Object(error) as { readonly name?: unknown };
  return typeof name === "string" && /^[\w$.]{1,64}$/.test(name) ? name : "something else";
}
