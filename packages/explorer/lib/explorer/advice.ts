/** The advice for a finding, in the words of the guides. Pure. */
import type { Effect } from "./effect.ts";
import type { FindingKind } from "./finding.ts";
import type { Structure } from "./saga-runs.ts";
import type { SourceKind } from "./source.ts";
import type { CallKey, Usage } from "./usage.ts";

export interface Symptom {
  readonly kind: FindingKind;
  readonly source: SourceKind;
  readonly uses: Usage;
  /** The effect that the finding is about, if any. */
  readonly effect?: Pick<Effect, "kind"> | undefined;
  /** The idempotency key of the calls that the finding is about. */
  readonly callKey: CallKey;
  /** Whether all effects happened nevertheless. */
  readonly isDone?: boolean | undefined;
  /** Whether some of them did. */
  readonly isHalfDone?: boolean | undefined;
  /** Whether the run has steps or a saga, and whether other systems have several of its effects. */
  readonly structure: Structure;
  readonly hasSeveral: boolean;
  /** Whether the effect is that of a compensation. */
  readonly isUndoing: boolean;
}

/** The first row that applies gives the advice. */
export function adviceFor(symptom: Symptom): string {
  const row = ADVICE[symptom.kind].find(({ when = () => true }) => when(symptom));
  return typeof row?.advice === "function" ? row.advice(symptom) : `${row?.advice}`;
}

interface Row {
  /** @default - always */
  readonly when?: (symptom: Symptom) => boolean;
  readonly advice: string | ((symptom: Symptom) => string);
}

/** For a system that has no idempotency keys. */
const KEYLESS =
  'set `whenAbandoned` (a verify function if the system can be asked, else "hold"), throw OutcomeUnknownError if no response came, or accept the duplicate with `atLeastOnce`';
const SEVERAL_KEYLESS =
  "make each effect a step, `idempotency.step(name, work, { atMostOnce: true, verify })`, which holds the key if nothing can be verified; or accept the duplicate with `atLeastOnce`";

/** For an interrupted step whose system has no idempotency keys. */
const keylessStep = ({ structure }: Symptom): string =>
  `set \`{ atMostOnce: true }\` on the step, with \`verify\` if the system can be asked; otherwise ${structure === "saga" ? "the saga compensates, or its key is held" : "its key is held"}`;

type EffectKind = Effect["kind"];

/** What to do without a record, and how a record would help. */
const WITHOUT_RECORD: Readonly<Record<Exclude<EffectKind, "call">, readonly [string, string]>> = {
  item: [
    "derive the item's id from the event, with a condition on anything that is counted",
    "and make the write in its commit",
  ],
  message: [
    "send the message with a deduplication id derived from the event",
    "and send the message by its commit",
  ],
  object: [
    "name the object after an id in the event",
    "and name the object after `idempotency.childKey(name)`",
  ],
};

/** For a handler with a record that doesn't commit, and without steps. */
const WITH_RECORD: Readonly<Record<Exclude<EffectKind, "call">, string>> = {
  item: "the item can exist although the completion was never recorded: write both with `idempotency.commit(result, { writes: [...] })`, or derive the item's id from the key",
  message:
    "the message can be sent although the completion was never recorded: send it with `idempotency.commit(result, { messages: [...] })` and the outbox relay, or give it a deduplication id derived from the key",
  object:
    "name the object after something that stays the same, such as `idempotency.childKey(name)`: a repetition then overwrites it with the same object",
};

/** For a handler that commits already: this effect is outside of the commit. */
const BESIDE_COMMIT: Readonly<Record<Exclude<EffectKind, "call">, string>> = {
  item: "the handler already commits, but this write is outside of it: add it to the commit's `writes`, or derive the item's id from the key",
  message:
    "the handler already commits, but this message is sent outside of it: add it to the commit's `messages`, or give it a deduplication id derived from the key",
  object: WITH_RECORD.object,
};

/** For a handler that runs within a transaction of its store. */
const BESIDE_TRANSACTION: Readonly<Record<Exclude<EffectKind, "call">, string>> = {
  item: "the handler runs in a transaction, but this write is outside of it: write it with the client that `clientOf(idempotency)` returns, or derive the row's id from the key",
  message:
    "the handler runs in a transaction, but this message is sent outside of it: insert it into an outbox table of that transaction, or give it a deduplication id derived from the key",
  object: WITH_RECORD.object,
};

const BESIDE = { record: WITH_RECORD, commit: BESIDE_COMMIT, transaction: BESIDE_TRANSACTION } as const;

function kindOf({ effect }: Symptom): EffectKind {
  return effect?.kind ?? "item";
}

const isItem = (symptom: Symptom): boolean => kindOf(symptom) === "item";
const isCall = (symptom: Symptom): boolean => kindOf(symptom) === "call";
const isUndoing = (symptom: Symptom): boolean => symptom.isUndoing;
const isBatch = ({ source }: Symptom): boolean => source === "sqs" || source === "stream";
/** Its own records know neither leases nor commits. */
const hasNoRecord = ({ uses }: Pick<Symptom, "uses">): boolean => uses === "nothing" || uses === "own";

function wrapperFor(symptom: Symptom): string {
  if (symptom.source === "http") return "httpIdempotent()";
  return isBatch(symptom) ? "idempotentBatch()" : "idempotent()";
}

/** @param childKey how the handler gets a key that stays the same */
function callAdvice({ callKey }: Symptom, childKey: string, keyless: string): string {
  if (callKey === "ignored")
    return `the calls carry the same idempotency key, but the other system doesn't honour it: ${keyless}`;
  const change =
    callKey === "changes"
      ? `the calls carry an idempotency key that changes from attempt to attempt: send ${childKey} instead`
      : `send the other system ${childKey} as its idempotency key`;
  return `${change}; if it doesn't support keys, ${keyless}`;
}

function withoutRecord(symptom: Symptom): string {
  const kind = kindOf(symptom);
  if (kind === "call") {
    const keyless = `wrap the handler in ${wrapperFor(symptom)} with \`whenAbandoned\`, or accept the duplicate with \`atLeastOnce\``;
    return callAdvice(symptom, "a key derived from the event", keyless);
  }
  const [alone, wrapped] = WITHOUT_RECORD[kind];
  return `${alone}; or wrap the handler in ${wrapperFor(symptom)}, ${wrapped}`;
}

const ADVICE: Readonly<Record<FindingKind, readonly Row[]>> = {
  "happens-twice": [
    {
      when: hasNoRecord,
      advice: (symptom) =>
        `${symptom.uses === "own" ? "the handler's own record can miss that this was done" : "nothing records that this was done"}: ${withoutRecord(symptom)}`,
    },
    {
      when: (symptom) => isUndoing(symptom) && isCall(symptom),
      advice: (symptom) =>
        `an interrupted compensation runs again: ${callAdvice(symptom, "the compensation's own `childKey()`", "accept the duplicate with `atLeastOnce`")}`,
    },
    {
      when: isUndoing,
      advice:
        "an interrupted compensation runs again, and this write can happen before the compensation is recorded: make it in the compensation's own `commit`",
    },
    {
      when: (symptom) => symptom.structure !== "none" && isItem(symptom),
      advice:
        "this write can happen before its step is recorded: make it in that step's own `commit(result, { writes: [...] })`",
    },
    {
      when: ({ structure }) => structure !== "none",
      advice: (symptom) =>
        `an interrupted step runs again: ${callAdvice(symptom, "the step's own `childKey()`", keylessStep(symptom))}`,
    },
    {
      when: isCall,
      advice: (symptom) =>
        callAdvice(symptom, "`idempotency.childKey(name)`", symptom.hasSeveral ? SEVERAL_KEYLESS : KEYLESS),
    },
    {
      advice: (symptom) =>
        BESIDE[symptom.uses as keyof typeof BESIDE][kindOf(symptom) as keyof typeof WITH_RECORD],
    },
  ],
  lost: [
    {
      when: isUndoing,
      advice:
        "let the compensation throw when it fails: the saga then stops there, and a later call continues it",
    },
    {
      when: (symptom) => isBatch(symptom) && hasNoRecord(symptom),
      advice:
        "report a record as done only after its effect: throw when the effect fails, and let idempotentBatch() return the record in batchItemFailures",
    },
    {
      when: isBatch,
      advice:
        "report a record as done only after its effect: await the effect, and let its error reach the caller instead of catching it",
    },
    {
      when: ({ uses }) => uses === "record",
      advice:
        "report success only after the effect: throw (or respond with 5xx) when it fails, and commit the result and the effect together",
    },
    {
      advice:
        "report success only after the effect: await it, and throw (or respond with 5xx) when it fails instead of catching the error",
    },
  ],
  differs: [
    {
      when: hasNoRecord,
      advice:
        "a repetition must write the same values: derive each of them from the event, without the time or fresh ids",
    },
    {
      when: ({ uses }) => uses === "record",
      advice:
        "a repetition must write the same values: derive each of them from the key and the payload, and write them in a commit",
    },
    {
      advice:
        "a repetition must write the same values: derive each of them from the key and the payload, without the time or fresh ids",
    },
  ],
  "answer-differs": [
    {
      when: hasNoRecord,
      advice: (symptom) =>
        `answer a repetition with the first response: wrap the handler in ${wrapperFor(symptom)}, which stores and replays it`,
    },
    {
      advice:
        "a repetition is answered from the record, but the response is changed around it: compute the whole response inside the wrapped handler, and add nothing to it outside",
    },
  ],
  dangling: [
    {
      when: hasNoRecord,
      advice:
        "create ids once: derive them from the event, and use the same ones in every write, message and response",
    },
    {
      when: ({ uses }) => uses === "record",
      advice:
        "create ids once: create them inside the handler, and pass the same ones to a commit's writes, messages and result",
    },
    {
      advice:
        "create ids once: create them inside the handler, and use the same ones in its writes, its messages and its result",
    },
  ],
  stuck: [
    {
      when: (symptom) => symptom.isDone === true && hasNoRecord(symptom),
      advice: (symptom) =>
        `the work is done, but a repeated request is refused: store the response and replay it, as ${wrapperFor(symptom)} does`,
    },
    {
      when: ({ isDone }) => isDone === true,
      advice:
        "the work is done, but the handler's own check refuses the repetition: treat an effect of the same key as a success",
    },
    {
      when: (symptom) =>
        symptom.isHalfDone === true &&
        symptom.structure !== "saga" &&
        symptom.hasSeveral &&
        !hasNoRecord(symptom),
      advice:
        "part of it is done, and nothing undoes it: saga(name, [{ name, run, compensate }]) compensates the steps that are done",
    },
    {
      when: hasNoRecord,
      advice: (symptom) =>
        `a lock needs a lease, so that a retry can take over an attempt that died: give it an expiry, or use ${wrapperFor(symptom)}, whose lease ends on its own`,
    },
    {
      advice:
        "retries still fail after the lease has ended, so something else blocks them: look at the last attempt in the trace for a lock or a check that the first attempt left behind, and let it expire",
    },
  ],
  order: [
    {
      when: hasNoRecord,
      advice:
        "stop a group at its first failure and return the rest of it, as idempotentBatch() does for FIFO queues and streams",
    },
    { advice: "stop a group at its first failure and return the rest of it: don't catch a record's error" },
  ],
  misreported: [
    {
      when: hasNoRecord,
      advice:
        "identify each failed record by its messageId (SQS) or SequenceNumber (streams), as idempotentBatch() does",
    },
    { advice: "identify each failed record by its messageId (SQS) or SequenceNumber (streams)" },
  ],
  unbounded: [
    {
      advice:
        "limit retries: give up after a few tries or when `signal` aborts, and leave the rest to the source's redelivery",
    },
  ],
  unawaited: [
    {
      advice:
        "await everything before returning: Lambda freezes unfinished work, which then runs in a later invocation or never",
    },
  ],
  "key-reused": [
    {
      advice:
        "send the same request under the same key: build it from stored or received data, without timestamps or fresh ids",
    },
  ],
};
