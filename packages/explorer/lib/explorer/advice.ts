/** The advice for a finding, in the words of the guides. Pure. */
import { ATTRIBUTES } from "onceonly/kit";
import type { Io } from "../simulator/io.ts";
import type { Effect } from "./effect.ts";
import type { FindingKind } from "./finding.ts";
import type { Structure } from "./saga-runs.ts";
import type { SourceKind } from "./source.ts";

export interface Symptom {
  readonly kind: FindingKind;
  readonly source: SourceKind;
  readonly uses: Usage;
  /** The effect that the finding is about, if any. */
  readonly effect?: Pick<Effect, "kind"> | undefined;
  /** Whether all effects happened nevertheless. */
  readonly isDone?: boolean | undefined;
  /** Whether some of them did. */
  readonly isHalfDone?: boolean | undefined;
  /** What its effects are made of, and whether other systems have several of them. */
  readonly structure: Structure;
  readonly hasSeveral: boolean;
  /** Whether the effect is that of a compensation. */
  readonly isUndoing: boolean;
}

/** The parts of this package that an undisturbed run uses: nothing, a record that remembers, or its commit too. */
export type Usage = "nothing" | "record" | "commit";

export function usageIn(ios: readonly Io[], idempotencyTables: readonly string[]): Usage {
  const remembering = ios.filter(
    ({ service, target, input }) =>
      service === "dynamodb" &&
      (target.split("+").some((name) => idempotencyTables.includes(name)) ||
        JSON.stringify(input).includes(ATTRIBUTES.leaseEndsAt)),
  );
  if (remembering.length === 0) return "nothing";
  return remembering.some(({ operation }) => operation === "TransactWriteItems") ? "commit" : "record";
}

/** The first row that applies is given. */
export function adviceFor(symptom: Symptom): string {
  const row = ADVICE[symptom.kind].find(({ when = () => true }) => when(symptom));
  return typeof row?.advice === "function" ? row.advice(symptom) : `${row?.advice}`;
}

interface Row {
  /** @default - always */
  readonly when?: (symptom: Symptom) => boolean;
  readonly advice: string | ((symptom: Symptom) => string);
}

const KEYLESS =
  'if it takes none, take `whenAbandoned` (a verify function where the system can be asked, else "hold"), throw OutcomeUnknownError where no answer came, or accept it with `atLeastOnce`';
const SEVERAL_KEYLESS =
  "if it takes none, make each effect a step, `idempotency.step(name, work, { atMostOnce: true, verify })`: what nobody can be asked about is held then; or accept it with `atLeastOnce`";

/** A saga repeats a compensation that was interrupted. */
const COMPENSATE_ONCE =
  "a compensation comes again after an interruption: pass its own `childKey()` on, or make its writes by its `commit`";

const INTERRUPTED_STEP =
  "an interrupted step runs again: pass its `childKey()` on; if the system takes none, `{ atMostOnce: true }` on the step, with `verify` where it can be asked, else ";

type EffectKind = Effect["kind"];

/** For a handler without a record. */
const WITHOUT_RECORD: Readonly<Record<EffectKind, string>> = {
  item: "derive the item's id from the event, with a condition for what is counted",
  message: "send the message under a deduplication id made of the event",
  object: "name the object by an id of the event",
  call: "give the other system an idempotency key made of the event; if it takes none, say so with `atLeastOnce`",
};

/** For a handler with a record, and without steps. */
const WITH_RECORD: Readonly<Record<EffectKind, string>> = {
  item: "the item can be there while the completion was never recorded: write both in `idempotency.commit(result, { writes: [...] })`, or derive the item's id from the key",
  message:
    "send it under an id that stays the same: `idempotency.commit(result, { messages: [...] })` and the outbox relay, or a deduplication id made of the key",
  object:
    "name the object by what stays the same, such as `idempotency.childKey(name)`: a repetition then puts the same object",
  call: "give the other system an idempotency key that stays the same: `idempotency.childKey(name)`; ",
};

function kindOf({ effect }: Symptom): EffectKind {
  return effect?.kind ?? "item";
}

const isItem = (symptom: Symptom): boolean => kindOf(symptom) === "item";
const isCall = (symptom: Symptom): boolean => kindOf(symptom) === "call";
const isUndoing = (symptom: Symptom): boolean => symptom.isUndoing;
const isBatch = ({ source }: Symptom): boolean => source === "sqs" || source === "stream";

function wrapperFor(symptom: Symptom): string {
  if (symptom.source === "http") return "httpIdempotent()";
  return isBatch(symptom) ? "idempotentBatch()" : "idempotent()";
}

const ADVICE: Readonly<Record<FindingKind, readonly Row[]>> = {
  "happens-twice": [
    {
      when: ({ uses }) => uses === "nothing",
      advice: (symptom) =>
        `no record remembers that it was done: ${WITHOUT_RECORD[kindOf(symptom)]}; or wrap the handler in ${wrapperFor(symptom)}, and let its commit hold the effects`,
    },
    { when: isUndoing, advice: COMPENSATE_ONCE },
    {
      when: (symptom) => symptom.structure !== "none" && isItem(symptom),
      advice:
        "the write can be there while the step was never recorded: make it by the step's own `commit(result, { writes: [...] })`",
    },
    {
      when: ({ structure }) => structure === "saga",
      advice: `${INTERRUPTED_STEP}the saga turns back, or its key is held`,
    },
    { when: ({ structure }) => structure === "steps", advice: `${INTERRUPTED_STEP}its key is held` },
    {
      when: (symptom) => symptom.uses === "commit" && isItem(symptom),
      advice:
        "the handler commits already: give this write to `idempotency.commit(result, { writes: [...] })` too, or derive the item's id from the key",
    },
    {
      when: isCall,
      advice: ({ hasSeveral }) => WITH_RECORD.call + (hasSeveral ? SEVERAL_KEYLESS : KEYLESS),
    },
    { advice: (symptom) => WITH_RECORD[kindOf(symptom)] },
  ],
  lost: [
    {
      when: isUndoing,
      advice:
        "let the compensation throw where it failed: the saga then stops there, and a later call goes on",
    },
    {
      when: isBatch,
      advice:
        "report a record as done only after its effect: let the handler throw, so that idempotentBatch returns the record in batchItemFailures",
    },
    {
      advice:
        "report success only after the effect: throw (or answer 5xx) when it failed, and let one commit hold result and effect together",
    },
  ],
  differs: [
    {
      advice:
        "a repetition must write the same: derive every written value from the key and the payload, and write it in commit",
    },
  ],
  "answer-differs": [
    {
      advice:
        "answer a repetition with the stored result: idempotent() and httpIdempotent() replay the result; compute nothing beside it",
    },
  ],
  dangling: [
    {
      advice:
        "make ids once: create them inside the handler and give the same ones to commit's writes, its messages and its result",
    },
  ],
  stuck: [
    {
      when: ({ isDone }) => isDone === true,
      advice:
        "the work is done, but a repeated request is refused: store the answer and replay it, as idempotent() and httpIdempotent() do",
    },
    {
      when: ({ isHalfDone, structure, hasSeveral, uses }) =>
        isHalfDone === true && structure !== "saga" && hasSeveral && uses !== "nothing",
      advice:
        "some of it is done, and nobody undoes it: saga(name, [{ name, run, compensate }]) turns back, and undoes what was done",
    },
    {
      advice:
        "a lock needs a lease: a retry must take over an attempt that died (with onceonly it does, once leaseEndsAt has passed)",
    },
  ],
  order: [
    {
      advice:
        "stop a group at its first failure and return the rest of it: idempotentBatch does, for FIFO queues and streams",
    },
  ],
  misreported: [
    {
      advice:
        "name each failed record by its messageId (SQS) or SequenceNumber (streams): idempotentBatch does",
    },
  ],
  unbounded: [
    {
      advice:
        "bound retries: give up after a few tries or when `signal` aborts, and leave the rest to the source's redelivery",
    },
  ],
  unawaited: [
    {
      advice:
        "await everything before returning: Lambda freezes unfinished work, which then runs in another invocation or never",
    },
  ],
  "key-reused": [
    {
      advice:
        "send the same request under the same key: build it from the stored order, without timestamps or fresh ids",
    },
  ],
};
