/**
 * An asynchronous invocation. Lambda retries twice under the same request id; a further failure comes back
 * later under another id, as from a dead-letter queue.
 */
import type { Invocation } from "../../simulator/invocation.ts";
import { plainOf } from "../plain-value.ts";
import { failedAnswer, type Source, type SourceAnswer, statusIn } from "../source.ts";

const AGAIN_AFTER_MS = 120_000;

export const invoker: Source = {
  kind: "invoke",
  sender: "Lambda",
  prepare() {},
  async deliver({ fn, event, clock, patienceMs, note }) {
    const until = clock.now() + patienceMs;
    for (;;) {
      const answer = answerOf(await fn.invokeAsync(structuredClone(event)));
      note(answer);
      if (answer.isSuccess || clock.now() >= until) return;
      await clock.sleep(AGAIN_AFTER_MS);
    }
  },
  async repeat({ fn, event }) {
    return answerOf(await fn.invoke(structuredClone(event)));
  },
};

function answerOf(invocation: Invocation): SourceAnswer {
  if (invocation.outcome !== "returned") return failedAnswer(invocation);
  const { number, value } = invocation;
  return {
    isSuccess: true,
    invocation: number,
    words: "returned",
    ...statusIn(value),
    content: plainOf(value),
  };
}
