/** One request of a host, with all its possible answers in the requester's form. */
import { checkShape, type Fault, type FaultKind } from "./fault.ts";
import type { Io } from "./io.ts";

export interface Refusal {
  readonly code: string;
  readonly status?: number | undefined;
}

export type RefusedEntries = Extract<Fault, { kind: "refused-entries" }>;

export interface Exchange<Answer> {
  readonly io: Omit<Io, "number" | "at" | "hostId" | "invocation">;
  /** Aborted when the caller has given up; a request on its way arrives nevertheless. */
  readonly signal?: AbortSignal | undefined;
  /** Executes the request. A rejection is an answer too. */
  run(): Promise<Answer>;
  /** The caller's error after a broken connection. */
  broken(): Error;
  /** The caller's error after throttling. */
  throttled(): Promise<Answer>;
  /** The caller's error with this name. */
  refused(refusal: Refusal): Promise<Answer>;
  /** Like `run`, but only for these entries of a batch. */
  runWithout?(refused: RefusedEntries): Promise<Answer>;
  /** Like `run`, but reads that may be stale return old versions. */
  runStale?(): Promise<Answer>;
  /** The caller's error after a conflict with another transaction. */
  conflicted?(): Promise<Answer>;
  /** A description for the trace. */
  describe(answer: Answer): string;
}

const TRANSACTABLE = /^(Put|Update|Delete|TransactWrite|TransactGet)/;
const STALEABLE = /^(GetItem|BatchGetItem|Query|Scan)$/;

const BATCHES = /^((SendMessage|DeleteMessage|ChangeMessageVisibility|Publish)Batch|PutEvents)$/;

/**
 * Whether an I/O can have a fault of this kind. Only writes and transactions conflict, only some reads are
 * stale, and only batches have entries.
 */
export function canHave(io: Pick<Io, "service" | "operation" | "input">, kind: FaultKind): boolean {
  if (kind === "conflict") return io.service === "dynamodb" && TRANSACTABLE.test(io.operation);
  if (kind === "refused-entries") return io.service !== "dynamodb" && BATCHES.test(io.operation);
  if (kind !== "stale") return true;
  return (
    io.service === "dynamodb" &&
    STALEABLE.test(io.operation) &&
    !JSON.stringify(io.input).includes('"ConsistentRead":true')
  );
}

/** How many entries a batch has. */
export function entriesIn({ input }: Pick<Io, "input">): number {
  const entries = input.Entries ?? input.PublishBatchRequestEntries;
  return Array.isArray(entries) ? entries.length : 0;
}

/** @throws Error for a fault that this I/O cannot have */
export function checkFault(io: Io, fault: Fault): void {
  checkShape(fault);
  if (canHave(io, fault.kind)) return;
  throw new Error(
    `I/O ${io.number} (${io.service} ${io.operation} ${io.target}) can't have the fault ${fault.kind}: check canHave(io, kind) first`,
  );
}
