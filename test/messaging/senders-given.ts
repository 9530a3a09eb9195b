// Commits of a few messages, a relay and a sweeper, in memory: the outbox does some things as a test says.
import {
  type OutboxBacklogEvent,
  type OutboxCommitEvent,
  type OutboxSweeperOptions,
  outboxRelay,
  outboxSweeper,
} from "onceonly/messaging";
import { fakeClock, fakeRandom } from "onceonly/testing";
import type { Outbox, Taken, Taking } from "../../lib/core/messages/outbox.ts";
import type { LineNote } from "../../lib/messaging/line-notes.ts";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";
import { refusingSend } from "../kit/faults/refusing-send.ts";
import { timeless } from "../kit/time/timeless.ts";
import { withOutbox } from "../kit/with-outbox.ts";

const URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/";

/** `a1` is the first message of group `a` in a FIFO queue, and `s1` goes to a standard queue. */
export const messageOf = (name: string) =>
  name.startsWith("s")
    ? { queue: `${URL}mails`, key: name, body: name }
    : { queue: `${URL}payments.fifo`, key: name, group: name.slice(0, 1), body: name };

/** A line or a destination whose note says that it failed at this time. */
export const noteText = (name: string, at: number, more: Partial<LineNote> = {}) =>
  JSON.stringify({ [name]: { tries: 1, until: at, from: at, since: at, last: {}, ...more } });

export function newSenders(
  own: (memory: MemoryOutbox) => Partial<Outbox> = () => ({}),
  more: Partial<OutboxSweeperOptions> = {},
) {
  const clock = fakeClock();
  const time = timeless(clock);
  const memory = new MemoryOutbox(() => {});
  const sent: string[] = [];
  /** What the outbox was asked for, such as `take a1`. */
  const asked: string[] = [];
  const notes: string[] = [];
  const takings: Taking[] = [];
  const events: OutboxCommitEvent[] = [];
  const backlogs: OutboxBacklogEvent[] = [];
  const state = { refused: "", onSend: async () => {} };
  const nameOf = (recordKey: string) => recordKey.slice("op##".length);
  const changed = withOutbox(memory, own(memory));
  const outbox = withOutbox(changed, {
    take(recordKey, taking) {
      asked.push(`take ${nameOf(recordKey)}`);
      takings.push(taking);
      return changed.take(recordKey, taking);
    },
    keep(...keeping) {
      asked.push(`keep ${nameOf(keeping[0].recordKey)}`);
      return changed.keep(...keeping);
    },
    markSent(...marking) {
      asked.push(`mark ${nameOf(marking[0].recordKey)}`);
      return changed.markSent(...marking);
    },
    readNotes() {
      asked.push("read");
      return changed.readNotes();
    },
    replaceNotes(former, next) {
      asked.push("write");
      notes.push(next);
      return changed.replaceNotes(former, next);
    },
  });
  const send = refusingSend(state, sent);
  const options = {
    outbox,
    destinations: "any" as const,
    sqs: {
      config: {},
      async send(batch: Parameters<typeof send>[0]) {
        await state.onSend();
        return send(batch);
      },
    },
    clock: time,
    random: fakeRandom("senders"),
    observe: (event: Parameters<NonNullable<OutboxSweeperOptions["observe"]>>[0]) => {
      if (event.event === "backlog") backlogs.push(event);
      else if (event.event !== "send") events.push(event);
    },
    ...more,
  };
  const { minAgeSeconds: _, ...relayOptions } = options as OutboxSweeperOptions;
  const [relay, sweeper] = [outboxRelay(relayOptions), outboxSweeper(options)];
  return {
    clock,
    memory,
    outbox,
    state,
    sent,
    asked,
    takings,
    notes,
    events,
    backlogs,
    slept: time.slept,
    commit(names: string | readonly string[], committedAt = clock.now()): void {
      const [first = ""] = [names].flat();
      const messages = [names].flat().map(messageOf);
      memory.add({ recordKey: `op##${first}`, token: first, committedAt, messages });
    },
    /** As another sender does it. */
    take(name: string, more: Partial<Taking> = {}): Promise<Taken> {
      const now = clock.now();
      return memory.take(`op##${name}`, { by: "sweeper", id: "other", now, until: now + 300_000, ...more });
    },
    /** Answers with the change at which the batch comes again. `times` are those that the host says are left. */
    async relay(names: readonly string[], ...times: number[]): Promise<string | undefined> {
      const Records = names.map((name) => ({
        dynamodb: { SequenceNumber: name },
        toString: () => `op##${name}`,
      }));
      const getRemainingTimeInMillis = () => (times.length > 1 ? times.shift() : times[0]) ?? 30_000;
      return (await relay({ Records }, { getRemainingTimeInMillis })).batchItemFailures[0]?.itemIdentifier;
    },
    /** `leftMs` is the time that the host says is left. */
    sweep: (leftMs: () => number = () => 30_000) => sweeper({}, { getRemainingTimeInMillis: leftMs }),
  };
}
