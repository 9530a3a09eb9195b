/** A worker prolongs its lease while its handler runs. It counts on a renewal that was answered, and on no other one. */

import { NO_MARKS } from "./marks.ts";
import type { Turn } from "./request-steps.ts";
import { apply, nameOf } from "./requests.ts";
import { IDLE_WORKER, type Worker } from "./state.ts";
import { neverExpires } from "./step-store.ts";

export function renewalSteps({ state, worker, host, model, offer, become }: Turn): void {
  const { key, payload, token, wasRefused } = worker;
  const left = model.workTicks;
  if (!model.renews || worker.mode !== "claimed" || worker.left === left) return;
  // A step has taken the expiry.
  const marks = neverExpires(worker.marks, model.without) ? worker.marks : NO_MARKS;
  const asking: Worker = { ...IDLE_WORKER, phase: "renew", key, payload, token, left, marks };
  const what = nameOf(asking);
  offer(what, (watch) => {
    const [after, answer] = apply(state, asking, host, model, watch);
    return answer === "done" ? become({ wasRefused, left }, after) : after;
  });
  offer(`${what}; the answer is lost`, (watch) => apply(state, asking, host, model, watch)[0]);
  if (state.strays.length < model.strays)
    offer(`${what}; a copy is held up`, () => ({
      ...state,
      strays: [...state.strays, { worker: asking, host, isSpent: false }],
    }));
  if (model.without === "renewAnswered")
    offer(`${what}; nothing arrives, and it goes on all the same`, () => become({ wasRefused, left }));
}
