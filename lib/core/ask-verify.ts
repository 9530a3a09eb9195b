/** Asks `verify` about an abandoned attempt, for a while, and reads the answer. */
import { answerWithin } from "./answer-within.ts";
import type { Clock } from "./clock.ts";
import { InvalidOptionError } from "./errors.ts";
import type { AbandonedRecord, Verification } from "./verify.ts";

/** A verdict, and what is to be recorded of it. */
export interface Judged extends Pick<Verification, "outcome" | "evidence"> {
  /** The encoded result of what happened. */
  readonly text?: string | undefined;
  /** Why nobody knows. */
  readonly error?: unknown;
}

interface Asking {
  /** Where the user has given the function: errors name it. */
  readonly option: string;
  readonly clock: Clock;
  /** How long to wait for an answer. */
  readonly patienceMs: number;
  /** Encodes the result of what happened; absent where no result is stored. */
  readonly encode?: ((result: unknown) => string | undefined) | undefined;
}

/** Never rejects: an error, a late answer and a wrong one are `unknown`. */
export async function askVerify<Previous extends AbandonedRecord>(
  verify: (previous: Previous) => Verification | Promise<Verification>,
  previous: Omit<Previous, "signal">,
  { option, clock, patienceMs, encode }: Asking,
): Promise<Judged> {
  const asking = new AbortController();
  const late = () => {
    const error = Object.assign(new Error("verify did not answer in time"), { name: "TimeoutError" });
    asking.abort(error);
    return error;
  };
  const answer = async () => verify({ ...previous, signal: asking.signal } as Previous);
  try {
    return judgedOf(await answerWithin(clock, patienceMs, answer(), late), option, encode);
  } catch (error) {
    return { outcome: "unknown", evidence: { answered: `threw ${errorNameOf(error)}` }, error };
  }
}

/** @throws InvalidOptionError for what is no verdict, ResponseNotStorableError for a result that cannot be replayed. */
function judgedOf(answer: unknown, option: string, encode: Asking["encode"]): Judged {
  const { outcome, evidence, result } = Object(answer) as Partial<Verification> & { result?: unknown };
  if (outcome !== "happened" && outcome !== "did-not-happen" && outcome !== "unknown") {
    throw new InvalidOptionError(
      option,
      'must answer { outcome: "happened", result }, { outcome: "did-not-happen" } or { outcome: "unknown" }',
      answer,
    );
  }
  if (outcome !== "happened" || !encode) return { outcome, evidence };
  if (!("result" in Object(answer))) {
    throw new InvalidOptionError(
      option,
      "must answer `happened` with the `result` that every caller gets: `undefined` where there is none",
      answer,
    );
  }
  return { outcome, evidence, text: encode(result) };
}

/** An error's message may hold a payload, and its name may have been made of one. */
export function errorNameOf(error: unknown): string {
  const { name } = Object(error) as { readonly name?: unknown };
  return typeof name === "string" && /^[\w$.]{1,64}$/.test(name) ? name : "something else";
}
