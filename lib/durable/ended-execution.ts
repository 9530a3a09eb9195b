/** Frees a key whose durable execution has ended without saying so: it was stopped, timed out, or failed outside its handler. */
import { answerWithin } from "../core/answer-within.ts";
import { reportDecision } from "../core/decisions.ts";
import { hasCode } from "../core/error-code.ts";
import { StoreUnavailableError } from "../core/errors.ts";
import type { CallInput } from "../core/ongoing-call.ts";
import { encodeResult, NOT_KEPT } from "../core/outcome.ts";
import type { ResolvedOptions } from "../core/resolved-options.ts";
import { endingOf, recordFindings, takeUnknown } from "../core/take-unknown.ts";
import { encodeEvidence } from "../core/verify.ts";
import { invokeAgain } from "./invoke-again.ts";
import type { DurableExecutionReader } from "./options.ts";

/** The beginning of an execution's tokens. An ARN has no spaces. */
export const ownerFor = (arn: string): string => `${arn} `;

/** The execution that made a claim, if one did. */
export const executionOfToken = (token: string): string | undefined =>
  /^(?:h\.)?(?:s\.)?(arn:\S+) /.exec(token)?.[1];

export interface Ended {
  readonly client: DurableExecutionReader | undefined;
  readonly call: Pick<CallInput, "identity">;
  /** The operation's result, in the JSON that a successful execution has returned. `undefined` if it isn't in there. */
  readonly resultOf: ((executionResult: string | undefined) => string | undefined) | undefined;
}

const ASKING_MS = 5000;
/** How long no other call may claim the key between the two writes. */
const LEASE_MS = 30_000;
const PATIENCE_MS = 2000;

const ENDED = ["SUCCEEDED", "FAILED", "TIMED_OUT", "STOPPED"];

/**
 * Asks Lambda before anything is written: an execution that is still alive keeps its claim. So does one that Lambda doesn't
 * know, because the client may ask in another account or region.
 * @returns whether the key has changed, so that it's worth claiming again
 */
export async function freeIfEnded<Write>({
  client,
  call,
  options,
  resultOf,
}: Ended & { readonly options: ResolvedOptions<Write> }): Promise<boolean> {
  if (client === undefined) return false;
  const { recordKey } = call.identity;
  const { store, clock, random, observe, retentionSeconds, whenAbandoned } = options;
  try {
    const held = await store.find(recordKey, { consistent: true });
    const arn = held?.state === "in-progress" ? executionOfToken(held.token) : undefined;
    if (held === undefined || arn === undefined) return false;
    const { Status = "", Result } = await askAbout(arn, client, options);
    if (!ENDED.includes(Status)) return false;
    const requests = { store, clock, random, patienceMs: PATIENCE_MS };
    const mayTake = ({ token }: typeof held) => token === held.token;
    const taken = await takeUnknown({ ...requests, leaseMs: LEASE_MS, mayTake, interrupts: true }, recordKey);
    if (!taken.claim) return true;
    const { seen, now } = taken;
    const hasHappened = Status === "SUCCEEDED";
    const known = hasHappened ? [{ hasHappened, result: resultOf ? resultOf(Result) : NOT_KEPT }] : [];
    const verdict = hasHappened ? "happened" : "unknown";
    const ending = endingOf(seen, known, !hasHappened && whenAbandoned !== "run");
    const { settled } = await recordFindings(requests, taken, {
      known,
      ending,
      at: now,
      retentionSeconds,
      evidence: encodeEvidence({
        verdict,
        by: "Lambda",
        at: now,
        attempt: seen.attempt,
        asked: "GetDurableExecution",
        answered: Status,
      }),
    });
    const decision = hasHappened ? "verified" : "taken-over";
    // That a key is held is reported to each call that meets it.
    if (settled && !ending.isHeld)
      reportDecision(observe, call.identity, { decision, attempt: seen.attempt, durationMs: 0 });
    return true;
  } catch (error) {
    throw hasCode(error, "STORE_UNAVAILABLE") ? invokeAgain(error) : error;
  }
}

/** @returns nothing if Lambda doesn't answer in time, or refuses to */
async function askAbout<Write>(
  DurableExecutionArn: string,
  client: DurableExecutionReader,
  { clock }: ResolvedOptions<Write>,
): Promise<{ readonly Status?: string | undefined; readonly Result?: string | undefined }> {
  const asking = new AbortController();
  const late = () => {
    const error = new StoreUnavailableError("unreachable", undefined);
    asking.abort(error);
    return error;
  };
  try {
    const answer = client.getDurableExecution({ DurableExecutionArn }, { abortSignal: asking.signal });
    return await answerWithin(clock, ASKING_MS, answer, late);
  } catch {
    return {};
  }
}

/** The result of an execution whose handler is the operation. */
export function wholeResult(executionResult: string | undefined): string | undefined {
  if (executionResult === undefined) return undefined;
  try {
    return encodeResult(JSON.parse(executionResult));
  } catch {
    return NOT_KEPT;
  }
}
