/** One request of a host, and the ways in which it can be answered, in the words of who asked. */
import { checkShape, type Fault, type FaultKind } from "./fault.ts";
import type { Io } from "./io.ts";

export interface Refusal {
  readonly code: string;
  readonly status?: number | undefined;
}

export type RefusedEntries = Extract<Fault, { kind: "refused-entries" }>;

export interface Exchange<Answer> {
  readonly io: Omit<Io, "number" | "at" | "hostId" | "invocation">;
  /** Aborted when the caller has given up; what is on its way arrives all the same. */
  readonly signal?: AbortSignal | undefined;
  /** Does it; an error that it rejects with is an answer too. */
  run(): Promise<Answer>;
  /** What the caller sees of a broken connection. */
  broken(): Error;
  /** What the caller sees when the service has too much to do. */
  throttled(): Promise<Answer>;
  /** What the caller sees of an error of this name. */
  refused(refusal: Refusal): Promise<Answer>;
  /** As `run`, but for these entries of a batch. */
  runWithout?(refused: RefusedEntries): Promise<Answer>;
  /** As `run`, with old versions for reads that need not be consistent. */
  runStale?(): Promise<Answer>;
  /** What the caller sees when another transaction is under way. */
  conflicted?(): Promise<Answer>;
  /** In words for the trace. */
  describe(answer: Answer): string;
}

const TRANSACTABLE = /^(Put|Update|Delete|TransactWrite|TransactGet)/;
const STALEABLE = /^(GetItem|BatchGetItem|Query|Scan)$/;

const BATCHES = /^((SendMessage|DeleteMessage|ChangeMessageVisibility|Publish)Batch|PutEvents)$/;

/**
 * Whether an I/O can have a fault of this kind: only writes and transactions conflict, only some reads are stale, and only
 * batches have entries.
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

/** @throws Error for a fault that makes no sense on this I/O */
export function checkFault(io: Io, fault: Fault): void {
  checkShape(fault);
  if (canHave(io, fault.kind)) return;
  throw new Error(
    `I/O ${io.number} (${io.service} ${io.operation} ${io.target}) cannot have the fault ${fault.kind}: ask canHave(io, kind) first`,
  );
}
