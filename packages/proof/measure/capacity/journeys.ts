// The calls made to a function while its requests are counted.
import type { Tally } from "../metering/meter.ts";
import type { Subject } from "./subject.ts";

export type Journey = (subject: Subject) => Promise<Tally>;

export const firstRun: Journey = (subject) => subject.spend(1, () => subject.post(subject.freshKey()));

/** A first run whose handler throws, so a retry may run. */
export const failedRun: Journey = (subject) =>
  subject.spend(1, () => subject.post(subject.freshKey()).catch(() => undefined));

export const replay: Journey = async (subject) => {
  const key = subject.freshKey();
  await subject.post(key);
  return subject.spend(0, () => subject.post(key));
};

export const concurrentDuplicate: Journey = async (subject) => {
  const key = subject.freshKey();
  const first = await subject.postHeld(key);
  // One side answers 409, the other throws.
  const tally = await subject.spend(0, () => subject.post(key).catch(() => undefined));
  await first.finish();
  return tally;
};

/** The same journey, whose nth request (1 is the first) is applied without an answer. */
export function lostAnswer(nth: number, journey: Journey = firstRun): Journey {
  return (subject) => {
    subject.loseAnswer(nth);
    return journey(subject);
  };
}

/** Like `lostAnswer(1)`, for a side that then mistakes its own claim for another caller's. */
export const lostClaimAnswerConflicts: Journey = (subject) => {
  subject.loseAnswer(1);
  return subject.spend(0, () => subject.post(subject.freshKey()).catch(() => undefined));
};
