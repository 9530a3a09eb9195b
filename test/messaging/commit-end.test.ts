import { describe, expect, it } from "vitest";
import type { MessageProgress, Unsent } from "../../lib/core/messages/outbox.ts";
import type { StoredMessage } from "../../lib/core/messages/outgoing-message.ts";
import {
  dueAtOf,
  endOf,
  hasOwnRetry,
  INVALID,
  labelOf,
  ON_HOLD,
  progressOf,
  waitingMessages,
} from "../../lib/messaging/commit-end.ts";
import {
  NOT_ASKED,
  NOT_ATTEMPTED,
  OUT_OF_TIME,
  type SendEnd,
} from "../../lib/messaging/destination-queue.ts";
import { markedPlace } from "../../lib/messaging/line-notes.ts";
import { MAX_RETRY_DELAY_MS, retryDelayMs } from "../../lib/messaging/retry-delay.ts";

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo";
const NOW = 1_000_000;
const RULES = { parkAfterTries: 3, parkAfterSeconds: 100 };
const SENT: SendEnd = { result: { sent: true, messageId: "m", sequenceNumber: "1" } };
const REFUSED: SendEnd = { result: { sent: false, code: "Refused" } };

const message = (fields: object = { queue: QUEUE }) => fields as StoredMessage;
const unsentWith = (progress?: readonly MessageProgress[], count = progress?.length ?? 1): Unsent => ({
  recordKey: "r",
  token: "t",
  committedAt: NOW - 99_999,
  messages: Array.from({ length: count }, () => message()),
  progress,
  shard: 0,
  dueAt: NOW - 5,
});
const waiting = (tries = 0, at?: number): MessageProgress => ({
  state: "waiting",
  tries,
  ...(at !== undefined && { at }),
});
const ended = (former: MessageProgress, end: SendEnd, now = NOW) =>
  endOf(unsentWith([former]), [end], now, RULES);

describe("the end of a try", () => {
  it.each<[string, MessageProgress, SendEnd, MessageProgress]>([
    ["sent", waiting(1), SENT, { state: "sent", tries: 2, at: NOW, to: "queue/payments.fifo" }],
    ["refused", waiting(), REFUSED, { state: "waiting", tries: 1, at: NOW, code: "Refused" }],
    [
      "refused for the last time",
      waiting(2),
      REFUSED,
      { state: "parked", tries: 3, at: NOW, code: "Refused" },
    ],
    ["invalid", waiting(), INVALID, { state: "parked", tries: 1, at: NOW, code: "MessageInvalid" }],
    [
      "skipped with its destination",
      waiting(),
      NOT_ASKED,
      { state: "waiting", tries: 1, at: NOW, code: "NotAttempted" },
    ],
    [
      "lost with the whole request",
      waiting(2),
      { ...NOT_ATTEMPTED, cause: new Error("down") },
      { state: "parked", tries: 3, at: NOW, code: "NotAttempted" },
    ],
  ])("stores for a message that was %s what happened", (_, former, end, expected) => {
    expect(ended(former, end).progress).toEqual([expected]);
  });

  it.each<[string, SendEnd, boolean]>([
    ["after one that failed", NOT_ATTEMPTED, false],
    ["too late", OUT_OF_TIME, true],
    ["while the sweeper finishes its line", ON_HOLD, true],
  ])("leaves a message as it was that was up %s", (_, end, isCutShort) => {
    // It would be parked if it counted as tried.
    const former = waiting(2, 7);
    const { progress, ...rest } = ended(former, end);

    expect(progress[0]).toBe(former);
    expect(rest).toEqual({ isOver: false, isCutShort, isNews: false, hasFailed: false, parked: 0 });
  });

  it("parks what is too old, to the millisecond, even if it wasn't tried", () => {
    const parked = { state: "parked", tries: 1, at: NOW + 1, code: "NotAttempted" };

    expect(ended(waiting(1), NOT_ATTEMPTED).progress).toEqual([waiting(1)]);
    expect(ended(waiting(1), NOT_ATTEMPTED, NOW + 1).progress).toEqual([parked]);
  });

  it("tries a message that an operator sends again at least once, however old it is", () => {
    expect(ended(waiting(0, 7), NOT_ATTEMPTED, NOW + 1).progress).toEqual([waiting(0, 7)]);
    expect(ended(waiting(0, 7), REFUSED, NOW + 1).progress).toMatchObject([{ state: "parked", tries: 1 }]);
    expect(ended(waiting(0), NOT_ATTEMPTED, NOW + 1).progress).toMatchObject([{ state: "parked", tries: 0 }]);
  });

  it.each<[string, readonly MessageProgress["state"][], boolean]>([
    ["sent or dropped", ["sent", "dropped"], true],
    ["parked", ["sent", "parked"], false],
    ["waiting", ["dropped", "waiting"], false],
  ])("is the commit's end only if nothing is left: %s", (_, states, isOver) => {
    const progress = states.map((state) => ({ state, tries: 1 }));

    expect(endOf(unsentWith(progress), [], NOW, RULES)).toEqual({
      progress,
      isOver,
      isCutShort: false,
      isNews: false,
      hasFailed: false,
      parked: 0,
    });
  });

  it("counts only what this try has changed", () => {
    const parked: MessageProgress = { state: "parked", tries: 3 };
    const unsent = unsentWith([parked, waiting(), waiting()]);

    expect(endOf(unsent, [undefined, SENT, undefined], NOW, RULES)).toMatchObject({
      isNews: true,
      hasFailed: false,
      parked: 0,
    });
    expect(endOf(unsent, [undefined, SENT, INVALID], NOW, RULES)).toMatchObject({
      isNews: true,
      hasFailed: true,
      parked: 1,
    });
    expect(endOf(unsent, [undefined, OUT_OF_TIME, REFUSED], NOW, RULES)).toMatchObject({
      isCutShort: true,
      hasFailed: true,
      parked: 0,
    });
  });

  it("starts from untried messages if no progress is stored", () => {
    const unsent = unsentWith(undefined, 2);

    expect(progressOf(unsent)).toEqual([waiting(), waiting()]);
    expect(endOf(unsent, [SENT, undefined], NOW, RULES).progress).toMatchObject([{ tries: 1 }, { tries: 0 }]);
  });
});

describe("waitingMessages", () => {
  it("leaves out what is sent, parked or dropped", () => {
    const states = ["sent", "waiting", "parked", "dropped", "waiting"] as const;
    const unsent = unsentWith(states.map((state) => ({ state, tries: 0 })));
    const messages = states.map((_, index) => message({ queue: QUEUE, key: `${index}` }));

    expect(waitingMessages({ ...unsent, messages })).toEqual([messages[1], messages[4]]);
    expect(waitingMessages({ ...unsent, messages, progress: undefined })).toEqual(messages);
  });
});

describe("when a commit is due again", () => {
  const due = (
    former: readonly MessageProgress[],
    ends: readonly (SendEnd | undefined)[],
    lines: readonly (number | undefined)[] = [],
  ) => {
    const unsent = unsentWith(former);
    return dueAtOf(unsent, endOf(unsent, ends, NOW, { ...RULES, parkAfterTries: 99 }), NOW, lines);
  };

  it("is as before if the invocation ended too early", () => {
    expect(due([waiting(5), waiting()], [REFUSED, OUT_OF_TIME])).toBe(NOW - 5);
    expect(due([waiting(5), waiting()], [REFUSED, OUT_OF_TIME], [undefined, NOW + 9])).toBe(NOW - 5);
  });

  it("is as before while a message wasn't tried", () => {
    expect(due([waiting(5), waiting()], [REFUSED, undefined])).toBe(NOW - 5);
  });

  it("is after the delay of the message that waits least", () => {
    expect(due([waiting(5), waiting(3)], [REFUSED, REFUSED])).toBe(NOW + retryDelayMs(4));
  });

  it("is when the lines of its messages are due", () => {
    expect(due([waiting(), waiting()], [REFUSED, undefined], [NOW + 7, NOW + 9])).toBe(markedPlace(NOW + 7));
  });

  it("isn't marked as waiting only for lines if another message has its own retry time", () => {
    expect(due([waiting(), waiting(5)], [REFUSED, REFUSED], [NOW + 7])).toBe(NOW + 7);
  });

  it("is after the longest delay if no message waits", () => {
    const sent: MessageProgress = { state: "sent", tries: 1 };

    expect(due([sent, { state: "parked", tries: 1 }], [])).toBe(NOW + MAX_RETRY_DELAY_MS);
  });
});

describe("hasOwnRetry", () => {
  it.each<[string, readonly SendEnd[], readonly (number | undefined)[], boolean]>([
    ["a message failed that waits for no line", [NOT_ATTEMPTED, REFUSED], [NOW, undefined], true],
    ["all messages wait for lines", [NOT_ATTEMPTED, REFUSED], [NOW, NOW], false],
    ["no message waits for a line", [NOT_ATTEMPTED, REFUSED], [], false],
    ["nothing failed outside lines", [NOT_ATTEMPTED, NOT_ATTEMPTED], [NOW, undefined], false],
    ["the message of the line was sent", [SENT, REFUSED], [NOW, undefined], false],
  ])("R5: if %s: %#", (_, ends, lines, expected) => {
    const unsent = unsentWith([waiting(), waiting()]);

    expect(hasOwnRetry(unsent, endOf(unsent, ends, NOW, RULES), lines)).toBe(expected);
  });
});

describe("retryDelayMs", () => {
  it.each([
    [0, 0],
    [1, 0],
    [2, 30_000],
    [3, 60_000],
    [6, 480_000],
    [7, 900_000],
    [2000, 900_000],
  ])("after %d tries is %d", (tries, delay) => {
    expect(retryDelayMs(tries)).toBe(delay);
  });
});

describe("labelOf", () => {
  it.each<[unknown, string | undefined]>([
    [{ queue: QUEUE }, "queue/payments.fifo"],
    [{ topic: "arn:aws:sns:eu-central-1:123456789012:orders" }, "topic/orders"],
    [{ bus: "arn:aws:events:eu-central-1:123456789012:event-bus/shop" }, "bus/shop"],
    [{ bus: "shop" }, "bus/shop"],
    [{ queue: "payments" }, undefined],
    [{}, undefined],
    [null, undefined],
  ])("names the destination of %j: %s", (stored, label) => {
    expect(labelOf(stored as StoredMessage)).toBe(label);
  });
});
