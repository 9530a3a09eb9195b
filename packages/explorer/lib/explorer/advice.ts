/** The advice for a finding, in the words of the guides. Pure. */
import {
  besideRecord,
  callAdvice,
  KEYLESS,
  keylessStep,
  SEVERAL_KEYLESS,
  withoutRecord,
  wrapperFor,
} from "./effect-advice.ts";
import type { FindingKind } from "./finding.ts";
import { hasNoRecord, isBatch, kindOf, type Symptom } from "./symptom.ts";

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

const isItem = (symptom: Symptom): boolean => kindOf(symptom) === "item";
const isCall = (symptom: Symptom): boolean => kindOf(symptom) === "call";
const isUndoing = (symptom: Symptom): boolean => symptom.isUndoing;

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
      advice: besideRecord,
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
