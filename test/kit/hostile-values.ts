// Whether a store keeps hostile JSON exactly: as a result, the result of a step, and a replayed error.
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import { PermanentError } from "../../lib/core/errors.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { Store } from "../../lib/core/store.ts";
import { HOSTILE, hostileJson } from "./hostile-json.ts";

/** Compared as JSON: a comparison of objects doesn't see an own `__proto__`. */
export async function keepsHostileJson<Write>(store: Store<Write>, numRuns = 40): Promise<void> {
  // In one list, so that servers are asked seldom.
  await keeps(store, HOSTILE);
  await fc.assert(
    fc.asyncProperty(hostileJson, (value) => keeps(store, value)),
    { numRuns },
  );
}

async function keeps<Write>(store: Store<Write>, value: unknown): Promise<void> {
  const text = JSON.stringify(value);
  const key = randomUUID();
  let runs = 0;
  const call = () =>
    runOnce({ operation: "keep", store, leaseSeconds: 30 }, key, "payload", async ({ step }) => {
      const kept = await step("first", async () => value);
      runs++;
      if (runs === 1) throw new Error("comes again");
      return { kept, value };
    });
  await call().catch(() => {});
  const answers = [await call(), await call(), await call()].map((each) => JSON.stringify(each));
  const failing = () =>
    runOnce({ operation: "fail", store, leaseSeconds: 30, isFinalError: () => true }, key, "payload", () => {
      throw Object.assign(new PermanentError(text), { code: text });
    }).catch((error: Error & { code: string }) => JSON.stringify([error.message, error.code]));
  const errors = [await failing(), await failing()];
  for (const answer of answers) {
    if (answer !== `{"kept":${text},"value":${text}}` || runs !== 2)
      throw new Error(`after ${runs} runs the answer to ${text} is ${answer}`);
  }
  for (const error of errors) {
    if (error !== JSON.stringify([text, text]))
      throw new Error(`the error with ${text} is replayed as ${error}`);
  }
}
