/** The advice for a finding, in the words of the guides. Pure. */
import { ATTRIBUTES } from "../contract.ts";
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

export function adviceFor(symptom: Symptom): string {
  const { kind, effect, isDone, isHalfDone, isUndoing, structure, source, uses } = symptom;
  switch (kind) {
    case "happens-twice":
      if (uses === "nothing") return `${onceAlone(effect)}; or ${wrapped(source)}`;
      if (isUndoing) return COMPENSATE_ONCE;
      return structure === "none" ? onceWith(symptom, uses) : onceInSteps(effect, structure);
    case "lost":
      if (isUndoing)
        return "let the compensation throw where it failed: the saga then stops there, and a later call goes on";
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
        : isHalfDone && structure !== "saga" && symptom.hasSeveral && uses !== "nothing"
          ? "some of it is done, and nobody undoes it: saga(name, [{ name, run, compensate }]) turns back, and undoes what was done"
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

/** For a handler that has a record. */
function onceWith({ effect, hasSeveral }: Symptom, uses: Exclude<Usage, "nothing">): string {
  switch (effect?.kind ?? "item") {
    case "item":
      return uses === "commit"
        ? "the handler commits already: give this write to `idempotency.commit(result, { writes: [...] })` too, or derive the item's id from the key"
        : "the item can be there while the completion was never recorded: write both in `idempotency.commit(result, { writes: [...] })`, or derive the item's id from the key";
    case "message":
      return "send it under an id that stays the same: `idempotency.commit(result, { messages: [...] })` and the outbox relay, or a deduplication id made of the key";
    case "object":
      return "name the object by what stays the same, such as `idempotency.childKey(name)`: a repetition then puts the same object";
    case "call":
      return (
        "give the other system an idempotency key that stays the same: `idempotency.childKey(name)`; " +
        (hasSeveral ? SEVERAL_KEYLESS : KEYLESS)
      );
  }
}

const KEYLESS =
  'if it takes none, take `whenAbandoned` (a verify function where the system can be asked, else "hold"), throw OutcomeUnknownError where no answer came, or accept it with `atLeastOnce`';
const SEVERAL_KEYLESS =
  "if it takes none, make each effect a step, `idempotency.step(name, work, { atMostOnce: true, verify })`: what nobody can be asked about is held then; or accept it with `atLeastOnce`";

/** A saga repeats a compensation that was interrupted. */
const COMPENSATE_ONCE =
  "a compensation comes again after an interruption: pass its own `childKey()` on, or make its writes by its `commit`";

/** For a handler of steps. */
function onceInSteps(effect: Symptom["effect"], structure: Exclude<Structure, "none">): string {
  if ((effect?.kind ?? "item") === "item")
    return "the write can be there while the step was never recorded: make it by the step's own `commit(result, { writes: [...] })`";
  const held = structure === "saga" ? "the saga turns back, or its key is held" : "its key is held";
  return `an interrupted step runs again: pass its \`childKey()\` on; if the system takes none, \`{ atMostOnce: true }\` on the step, with \`verify\` where it can be asked, else ${held}`;
}

/** For a handler without a record. */
function onceAlone(effect: Symptom["effect"]): string {
  switch (effect?.kind ?? "item") {
    case "item":
      return "no record remembers that it was done: derive the item's id from the event, with a condition for what is counted";
    case "message":
      return "no record remembers that it was done: send the message under a deduplication id made of the event";
    case "object":
      return "no record remembers that it was done: name the object by an id of the event";
    case "call":
      return "no record remembers that it was done: give the other system an idempotency key made of the event; if it takes none, say so with `atLeastOnce`";
  }
}

function wrapped(source: SourceKind): string {
  if (source === "http") return "wrap the handler in httpIdempotent(), and let its commit hold the effects";
  const wrapper = source === "sqs" || source === "stream" ? "idempotentBatch()" : "idempotent()";
  return `wrap the handler in ${wrapper}, and let its commit hold the effects`;
}
