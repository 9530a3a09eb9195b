/** What a relay or a sweeper may do next: load a commit, send its messages, mark it; or crash in between. */
import type { Model } from "./bounds.ts";
import type { Watch } from "./invariants.ts";
import { mark } from "./model-store.ts";
import {
  IDLE_SENDER,
  isUnsent,
  type ModelState,
  type Sender,
  type Slot,
  withSender,
  withSlot,
} from "./state.ts";

/** Offers a step: `act` returns the state that it leads to, and reports to the watch what it does. */
export type Emit = (label: string, act: (watch: Watch) => ModelState) => void;

export function senderSteps(state: ModelState, index: number, model: Model, emit: Emit): void {
  const sender = state.senders[index] as Sender;
  const { key, token } = sender;
  const slot = state.slots[key] as Slot;
  const name = `sender ${index + 1}`;
  const stop = (after: ModelState) => withSender(after, index, IDLE_SENDER);

  if (sender.phase === "idle") {
    for (const [key, { record }] of state.slots.entries()) {
      if (!record || !isUnsent(record)) continue;
      const phase = model.without === "sendBeforeMark" ? "mark" : "send";
      emit(`${name} loads the messages of key ${key + 1}`, () =>
        withSender(state, index, { phase, key, token: record.token }),
      );
    }
    return;
  }
  emit(`${name} stops`, () => stop(state));
  if (sender.phase === "send") {
    emit(`${name} sends the messages of key ${key + 1}`, (watch) => {
      const sent = withSender(state, index, { ...sender, phase: "mark" });
      const { record, history } = slot;
      if (record?.token !== token || !isUnsent(record)) return sent;
      watch.expect(record.state === "completed", "messagesCommitted");
      return withSlot(sent, key, { ...slot, history: { ...history, delivered: true } });
    });
    return;
  }
  emit(`${name} marks key ${key + 1} as sent`, (watch) =>
    stop(withSlot(state, key, mark(slot, token, model, watch))),
  );
  emit(`${name} marks key ${key + 1} as sent; the answer is lost`, (watch) =>
    withSlot(state, key, mark(slot, token, model, watch)),
  );
}
