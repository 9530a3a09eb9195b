/** Advice for an effect that happens twice, depending on the kind of effect and on what the handler already uses. Pure. */
import { type EffectKind, isBatch, kindOf, type Symptom } from "./symptom.ts";

/** For a system that has no idempotency keys. */
export const KEYLESS =
  'set `whenAbandoned` (a verify function if the system can be asked, else "hold"), throw OutcomeUnknownError if no response came, or accept the duplicate with `atLeastOnce`';
export const SEVERAL_KEYLESS =
  "make each effect a step, `idempotency.step(name, work, { atMostOnce: true, verify })`, which holds the key if nothing can be verified; or accept the duplicate with `atLeastOnce`";

/** For an interrupted step whose system has no idempotency keys. */
export const keylessStep = ({ structure }: Symptom): string =>
  `set \`{ atMostOnce: true }\` on the step, with \`verify\` if the system can be asked; otherwise ${structure === "saga" ? "the saga compensates, or its key is held" : "its key is held"}`;

/** Advice for a handler without a record: how a record would help. */
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

/** For a handler that runs inside its store's transaction. */
const BESIDE_TRANSACTION: Readonly<Record<Exclude<EffectKind, "call">, string>> = {
  item: "the handler runs in a transaction, but this write is outside of it: write it with the client that `clientOf(idempotency)` returns, or derive the row's id from the key",
  message:
    "the handler runs in a transaction, but this message is sent outside of it: insert it into an outbox table of that transaction, or give it a deduplication id derived from the key",
  object: WITH_RECORD.object,
};

const BESIDE = { record: WITH_RECORD, commit: BESIDE_COMMIT, transaction: BESIDE_TRANSACTION } as const;

export function wrapperFor(symptom: Symptom): string {
  if (symptom.source === "http") return "httpIdempotent()";
  return isBatch(symptom) ? "idempotentBatch()" : "idempotent()";
}

/** For an effect that isn't a call, of a handler with a record. */
export function besideRecord(symptom: Symptom): string {
  return BESIDE[symptom.uses as keyof typeof BESIDE][kindOf(symptom) as keyof typeof WITH_RECORD];
}

/** @param childKey how the handler gets a key that stays the same */
export function callAdvice({ callKey }: Symptom, childKey: string, keyless: string): string {
  if (callKey === "ignored")
    return `the calls carry the same idempotency key, but the other system doesn't honour it: ${keyless}`;
  const change =
    callKey === "changes"
      ? `the calls carry an idempotency key that changes from attempt to attempt: send ${childKey} instead`
      : `send the other system ${childKey} as its idempotency key`;
  return `${change}; if it doesn't support keys, ${keyless}`;
}

export function withoutRecord(symptom: Symptom): string {
  const kind = kindOf(symptom);
  if (kind === "call") {
    const keyless = `wrap the handler in ${wrapperFor(symptom)} with \`whenAbandoned\`, or accept the duplicate with \`atLeastOnce\``;
    return callAdvice(symptom, "a key derived from the event", keyless);
  }
  const [alone, wrapped] = WITHOUT_RECORD[kind];
  return `${alone}; or wrap the handler in ${wrapperFor(symptom)}, ${wrapped}`;
}
