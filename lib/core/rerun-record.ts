/** Runs a finished key again: an operator's decision about a result or a final error that shouldn't be replayed any longer. */
import { MAX_RETENTION_SECONDS } from "../contract.ts";
import { BY_WHOM_CHECKS, type ByWhom } from "./by-whom.ts";
import type { Clock, Random } from "./clock.ts";
import { forkedTo } from "./fork-record.ts";
import { ASKED, OPERATED_CHECKS } from "./operated.ts";
import { checkOptions } from "./option-checks.ts";
import { DEFAULTS } from "./options.ts";
import type { State } from "./record.ts";
import { checkHoldsRecords, findFinished, historyOf, reopen } from "./reopening.ts";
import type { Store } from "./store.ts";
import { encodeEvidence } from "./verify.ts";

interface RerunOptions<Write> {
  readonly store: Store<Write>;
  readonly clock?: Clock;
  readonly random?: Random;
}

/** `waiting`: messages of its commit aren't sent yet. `forked`: it runs again under another key. */
export type RerunAnswer =
  | { readonly rerun: true }
  | { readonly rerun: false; readonly state: State | "absent" | "waiting" | "forked" };

const PATIENCE_MS = 2000;

/**
 * Releases a completed or failed key, so that the next call runs the handler again, as a further attempt of the same operation:
 * with the same child keys, and with the same keys for its messages. The previous result stays in the evidence if it's in the
 * record and short enough (4,096 characters). A key in another state stays as it is, and so does one whose messages wait.
 * @throws InvalidOptionError (`INVALID_OPTION`) before any I/O; StoreUnavailableError (`STORE_UNAVAILABLE`): call again;
 * RecordCorruptError (`RECORD_CORRUPT`).
 */
export async function rerunRecord<Write>(
  { store, clock = DEFAULTS.clock, random = DEFAULTS.random }: RerunOptions<Write>,
  recordKey: string,
  rerun: ByWhom,
): Promise<RerunAnswer> {
  checkOptions(rerun, BY_WHOM_CHECKS, ["by", "why"]);
  checkOptions({ store, clock, random }, OPERATED_CHECKS, ["store"]);
  checkHoldsRecords(store);
  const requests = { store, clock, random, patienceMs: PATIENCE_MS };
  const seen = await findFinished(requests, recordKey);
  if (seen?.state !== "completed" && seen?.state !== "failed")
    return { rerun: false, state: seen?.state ?? "absent" };
  // Its messages are sent, however late: until then the record doesn't expire.
  if (seen.expiresAt === undefined) return { rerun: false, state: "waiting" };
  // Its steps would run beside its fork.
  if (forkedTo(seen) !== undefined) return { rerun: false, state: "forked" };
  const at = clock.now();
  const { by, why: answered } = rerun;
  const refused = await reopen(requests, seen, {
    recordKey,
    at,
    expiresAt: Math.ceil(at / 1000 + MAX_RETENTION_SECONDS),
    evidence: encodeEvidence({
      ...{ verdict: "unknown", by, at, attempt: seen.attempt, asked: ASKED.rerun, answered },
      past: historyOf(store, seen),
    }),
  });
  return refused ? { rerun: false, state: refused.state } : { rerun: true };
}
