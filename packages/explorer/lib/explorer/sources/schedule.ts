/** A schedule: invokes each minute, regardless of the previous result, and ignores the responses. */
import type { Invocation } from "../../simulator/invocation.ts";
import { failedAnswer, type Source, type SourceAnswer, statusIn } from "../source.ts";

const EVERY_MS = 60_000;

export const schedule: Source = {
  kind: "schedule",
  sender: "the schedule",
  prepare() {},
  async deliver({ fn, event, clock, patienceMs, isDisturbed, note }) {
    const until = clock.now() + (isDisturbed ? patienceMs : 0);
    for (;;) {
      const answer = answerOf(await fn.invoke(structuredClone(event)));
      note(answer);
      if (clock.now() >= until) return;
      await clock.sleep(EVERY_MS);
    }
  },
  async repeat({ fn, event }) {
    return answerOf(await fn.invoke(structuredClone(event)));
  },
};

function answerOf(invocation: Invocation): SourceAnswer {
  if (invocation.outcome !== "returned") return failedAnswer(invocation);
  const { number, value } = invocation;
  return { isSuccess: true, invocation: number, words: "returned", ...statusIn(value) };
}
