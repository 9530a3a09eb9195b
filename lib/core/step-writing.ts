/** Writes one step of an attempt into its record, under the claim. */
import { MAX_RACES } from "./claiming.ts";
import { ClaimLostError, StoreUnavailableError } from "./errors.ts";
import { fenceOff } from "./fence.ts";
import type { Lease } from "./lease.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import { NOT_KEPT, readResult, refusesContent } from "./outcome.ts";
import { isClaimOf, isTracked, type StoredResult, type StoredStep } from "./record.ts";
import type { Claim, SettleAnswer, StepChange, Store } from "./store.ts";

/** The fields of a step to record. */
export type StepEnd = Pick<StepChange, "result"> & Omit<StoredStep, "result" | "attempt" | "at">;

/** A step with the attempt and the time that identify this write of it. */
type StampedStep = StepChange["step"];

/**
 * Writes a step, with `writes` in the same transaction. Never call it twice at the same time: both would change the same item.
 * Resolves to the text of the result, as each later attempt will get it.
 * @throws ResultNotKeptError: the step is written. ClaimLostError, StoreUnavailableError, TransactionConditionError
 */
export async function writeStep<Write>(
  call: OngoingCall<Write>,
  lease: Lease<Write>,
  name: string,
  { result, ...mark }: StepEnd,
  writes: readonly Write[],
): Promise<string | undefined> {
  // Each write has a unique time, so a late copy of an earlier write finds another step.
  const at = Math.max(call.now(), ...Object.values(lease.steps).map((step) => step.at + 1));
  const step: StampedStep = { ...mark, attempt: call.attempt as number, at };
  const mayBeHeld = isTracked({ steps: { step } });
  const until = call.recordUntil(lease.since);
  for (let races = 0; races < MAX_RACES; races++) {
    const { leaseEndsAt, expiresAt } = lease.claim as Claim;
    const { token, steps } = lease;
    const change = {
      recordKey: call.identity.recordKey,
      token,
      name,
      step,
      result,
      resultExpiresAt: call.stepExpiresAt(expiresAt === undefined || mayBeHeld),
      seen: steps[name],
      isFirst: Object.keys(steps).length === 0,
      leaseEndsAt,
      writes,
    };
    const { answer, kept } = await send(call, lease, change, until);
    if (answer.settled) {
      lease.noteStep(
        name,
        { ...step, result: storedAs(kept, answer.lostBytes) },
        mayBeHeld ? undefined : expiresAt,
      );
      return readResult(lease.steps[name]?.result, call);
    }
    const { record } = answer;
    if (!record || !isClaimOf(record, lease.token)) throw call.own(new ClaimLostError());
    // A step whose answers were all lost is recorded.
    lease.steps = record.steps ?? {};
  }
  throw new StoreUnavailableError("conflict", undefined);
}

interface Sent {
  readonly answer: SettleAnswer;
  /** The result that was given to the store in the end. */
  readonly kept: string | undefined;
}

/** Writes the step, without its result if the store refuses to keep that. A refused condition is fenced off. */
async function send<Write>(
  call: OngoingCall<Write>,
  lease: Lease<Write>,
  change: StepChange<Write>,
  until: number,
): Promise<Sent> {
  const { name, step, result, writes } = change;
  const write = (kept: string | undefined): Promise<SettleAnswer> => {
    const request = (store: Store<Write>) =>
      (store as Required<Store<Write>>).writeStep({ ...change, result: kept });
    return call.retryUntil(until, request, writes.length > 0);
  };
  try {
    return { answer: await write(result), kept: result };
  } catch (error) {
    if (refusesContent(error, result)) return { answer: await write(NOT_KEPT), kept: NOT_KEPT };
    return { answer: await fenceOff(call, lease, error, () => lease.hasStep(name, step)), kept: result };
  }
}

function storedAs(kept: string | undefined, lostBytes: number | undefined): StoredResult | undefined {
  if (lostBytes) return { in: "nowhere", bytes: lostBytes };
  return kept ? { in: "record", text: kept } : undefined;
}
