/** What a run uses of this package, read from its requests. Pure. */
import { namesOf } from "onceonly/kit";
import type { Io } from "../simulator/io.ts";
import { RECORD_KEY } from "./item-effects.ts";
import { placeWithoutIds } from "./outside.ts";

/**
 * The parts of this package that an undisturbed run uses: none; none, but records of the handler's own; a record; its commit
 * too; or a transaction that begins with the claim, as those of PostgresTransactions do.
 */
export type Usage = "nothing" | "own" | "record" | "commit" | "transaction";

/** The idempotency key of calls: missing, different in each attempt, or ignored by the other system. */
export type CallKey = "none" | "changes" | "ignored";

/** @param idempotencyTables those of the handler's own records, if it has any */
export function usageIn(ios: readonly Io[], idempotencyTables: readonly string[]): Usage {
  const remembering = ios.filter(hasRecord);
  const [first] = remembering;
  if (first === undefined)
    return ios.some(({ target }) => target.split("+").some((name) => idempotencyTables.includes(name)))
      ? "own"
      : "nothing";
  const within = withinTransactions(ios);
  if (within.has(first)) return "transaction";
  const commits = remembering.some((io) => io.operation === "TransactWriteItems" || within.has(io));
  return commits ? "commit" : "record";
}

/** The operation of the first record that a run claims; `undefined` if it has no record. */
export function operationIn(ios: readonly Io[]): string | undefined {
  for (const io of ios) {
    const recordKey = recordKeyIn(io.input);
    if (recordKey !== undefined) return namesOf(recordKey).operation;
  }
  return undefined;
}

/** @param undisturbed the requests of a run in which each call is made once */
export function callKeyIn(ios: readonly Io[], undisturbed: readonly Io[], place: string): CallKey {
  const keys = keysOf(ios, place);
  if (keys.size === 0) return "none";
  return keys.size > keysOf(undisturbed, place).size ? "changes" : "ignored";
}

function keysOf(ios: readonly Io[], place: string): ReadonlySet<unknown> {
  const calls = ios.filter(
    ({ service, operation, target }) =>
      service === "http" && `${operation} ${placeWithoutIds(target)}` === place,
  );
  const keys = calls.map(({ input }) =>
    new Headers(input.headers as ConstructorParameters<typeof Headers>[0]).get("idempotency-key"),
  );
  return new Set(keys.filter((key) => key !== null));
}

const hasRecord = ({ input }: Io): boolean => recordKeyIn(input) !== undefined;

/** Requests between a BEGIN and its end, of databases that the simulation does not have. */
function withinTransactions(ios: readonly Io[]): ReadonlySet<Io> {
  const within = new Set<Io>();
  let isOpen = false;
  for (const io of ios.filter(({ service }) => service === "foreign")) {
    if (/^(BEGIN|START)\b/i.test(io.operation)) isOpen = true;
    else if (/^(COMMIT|ROLLBACK|END)\b/i.test(io.operation)) isOpen = false;
    else if (isOpen) within.add(io);
  }
  return within;
}

/** The first text in an input that has the form of a record's key. */
function recordKeyIn(value: unknown): string | undefined {
  if (typeof value === "string") return RECORD_KEY.test(value) ? value : undefined;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return undefined;
  for (const part of Object.values(value)) {
    const found = recordKeyIn(part);
    if (found !== undefined) return found;
  }
  return undefined;
}
