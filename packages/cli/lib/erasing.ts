/** Erases stored answers, for the command line and the console: of one key, or of a key that a scan of its owner found. */
import { type Clock, type EraseAnswer, type Erasure, eraseRecord, hasCode } from "onceonly/kit";
import { UsageError } from "./command.ts";
import type { OpenTable } from "./open-table.ts";
import type { ScopedKey } from "./scan.ts";
import type { Changed } from "./table.ts";

interface Erasing {
  readonly clock: Clock;
}

/** @param absent what to say if there's no record */
export async function eraseOne(
  table: OpenTable,
  recordKey: string,
  erasure: Erasure,
  { clock }: Erasing,
  absent?: string,
): Promise<Changed> {
  return changed(await eraseAnswer(table, recordKey, erasure, clock), absent);
}

/** Also erases results that no record refers to. */
export async function eraseScoped(
  table: OpenTable,
  { recordKey, addresses }: ScopedKey,
  erasure: Erasure,
  { clock }: Erasing,
): Promise<Changed> {
  const answer = await eraseAnswer(table, recordKey, erasure, clock);
  const isGone = !answer.erased && answer.state === "absent" && addresses.length > 0;
  if (!answer.erased && !isGone) return changed(answer);
  const { eraseItems, placeOf } = await import("onceonly/kit");
  const expiresAt = Math.ceil(clock.now() / 1000);
  const place = placeOf(table.records);
  if (place) await eraseItems(place, recordKey, addresses, { expiresAt });
  return changed(answer.erased ? answer : { erased: true });
}

async function eraseAnswer(
  { store }: OpenTable,
  recordKey: string,
  erasure: Erasure,
  clock: Clock,
): Promise<EraseAnswer> {
  const { eraseItemsOf } = await import("onceonly/kit");
  return eraseRecord({ store, clock, apart: eraseItemsOf }, recordKey, erasure).catch((error: unknown) => {
    throw aboutBucket(error);
  });
}

/** The store that is missing here is the one with the bucket. */
function aboutBucket(error: unknown): unknown {
  const { option, message } = Object(error) as { readonly option?: string; readonly message: string };
  if (!hasCode(error, "INVALID_OPTION") || option !== "store") return error;
  return new UsageError(
    message.replace(
      /^.*?store: /,
      "pass --bucket with the bucket of the handler's `offloaded` store, or --store with a module that exports this store: ",
    ),
  );
}

function changed(answer: EraseAnswer, absent = "it has no record"): Changed {
  if (answer.erased) {
    const next =
      answer.forkedTo && `its fork has copies of step results, so erase it too: ${answer.forkedTo}`;
    return { done: true, message: "erased", next, json: answer };
  }
  const { state } = answer;
  const why = state === "absent" ? absent : (WHY_NOT[state] ?? `the key is ${state}`);
  return { done: false, message: `not erased: ${why}`, json: answer };
}

const SETTLE_FIRST = "settle it first with resolve or release";

const WHY_NOT: Readonly<Record<string, string>> = {
  waiting: "it has unsent messages: send or drop them first",
  "in-progress": `its attempt is running or was abandoned: ${SETTLE_FIRST}`,
  held: `the key is held: ${SETTLE_FIRST}`,
  released: "a retry may still run and needs what is stored, which expires on its own",
};
