/** The advice for a finding, in the words of the guides. Pure. */
import type { Effect } from "./effect.ts";
import type { FindingKind } from "./finding.ts";
import type { SourceKind } from "./source.ts";

export interface Symptom {
  readonly kind: FindingKind;
  readonly source: SourceKind;
  /** The effect that the finding is about, if any. */
  readonly effect?: Pick<Effect, "kind"> | undefined;
  /** Whether all effects happened nevertheless. */
  readonly isDone?: boolean | undefined;
}

export function adviceFor({ kind, effect, isDone, source }: Symptom): string {
  switch (kind) {
    case "happens-twice":
      return ONCE[effect?.kind ?? "item"];
    case "lost":
      return source !== "sqs" && source !== "stream"
        ? "report success only after the effect: throw (or answer 5xx) when it failed, and let one commit hold result and effect together"
        : "report a record as done only after its effect: let the handler throw, so that idempotentBatch returns the record in batchItemFailures";
    case "differs":
      return "a repetition must write the same: derive every written value from the key and the payload, and write it in commit";
    case "answer-differs":
      return "answer a repetition with the stored result: idempotent() and httpIdempotent() replay the result; compute nothing beside it";
    case "dangling":
      return "make ids once: create them inside the handler and give the same ones to commit's writes, its messages and its result";
    case "stuck":
      return isDone
        ? "the work is done, but a repeated request is refused: store the answer and replay it, as idempotent() and httpIdempotent() do"
        : "a lock needs a lease: a retry must take over an attempt that died (with onceonly it does, once leaseEndsAt has passed)";
    case "order":
      return "stop a group at its first failure and return the rest of it: idempotentBatch does, for FIFO queues and streams";
    case "misreported":
      return "name each failed record by its messageId (SQS) or SequenceNumber (streams): idempotentBatch does";
    case "unbounded":
      return "bound retries: give up after a few tries or when `signal` aborts, and leave the rest to the source's redelivery";
    case "unawaited":
      return "await everything before returning: Lambda freezes unfinished work, which then runs in another invocation or never";
    case "key-reused":
      return "send the same request under the same key: build it from the stored order, without timestamps or fresh ids";
  }
}

const ONCE: Readonly<Record<Effect["kind"], string>> = {
  item: "write it in one transaction with the mark that it is done: `idempotency.commit(result, { writes: [...] })`, or your own transaction",
  message:
    "send it under an id that stays the same: `idempotency.commit(result, { messages: [...] })` and the outbox relay, or a deduplication id made of the key",
  call: "give the other system an idempotency key that stays the same: `idempotency.childKey(name)`; if it takes none, say so with `atLeastOnce`",
};
