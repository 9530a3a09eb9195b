// A line, a note about it, and a commit that sends to it.
import type { StoredMessage, Unsent } from "onceonly/store-kit";
import { fakeClock } from "onceonly/testing";
import { type LineNote, linesOf } from "../../lib/messaging/line-notes.ts";

const URL = "https://sqs.eu-central-1.amazonaws.com/123456789012/";
export const inOrder: StoredMessage = { queue: `${URL}payments.fifo`, key: "a1", group: "a", body: "a1" };
/** In another line of the same destination. */
export const inOtherLine: StoredMessage = { ...inOrder, key: "b1", group: "b", body: "b1" };
export const withoutOrder: StoredMessage = { queue: `${URL}payments`, key: "a1", group: "a", body: "a1" };
export const { destination, line } = linesOf(inOrder)!;

export const clock = fakeClock();
export const now = clock.now();

export const noteOf = (more: Partial<LineNote> = {}): LineNote => ({
  tries: 1,
  until: now,
  from: now - 1000,
  since: now - 1000,
  last: { 3: ["op##a0", now - 1000] },
  ...more,
});

export const commitOf = (message: StoredMessage, dueAt = now): Unsent => ({
  recordKey: "op##a1",
  token: "mine",
  committedAt: now - 500,
  messages: [message],
  shard: 5,
  dueAt,
});
