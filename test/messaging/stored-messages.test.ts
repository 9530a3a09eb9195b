import { outboxSweeper } from "onceonly/messaging";
import type { MessageProgress, StoredMessage } from "onceonly/store-kit";
import { fakeClock, fakeRandom } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { faultOf } from "../../lib/core/messages/prepare-message.ts";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";
import { timeless } from "../kit/time/timeless.ts";

const queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo";
const stored = { queue, key: "order-7/paid", group: "order-7", body: "paid" };
const event = { bus: "shop", source: "shop", detailType: "paid", key: "order-7/paid", body: "{}" };

/** What is refused by no destination, but before it is asked. */
const BROKEN: readonly (readonly [what: string, message: unknown])[] = [
  ["nothing", undefined],
  ["a text", "paid"],
  ["a body that isn't a string", { ...stored, body: { id: 7 } }],
  ["an event whose body is no JSON", { ...event, body: "paid" }],
  ["no group for a FIFO queue", { ...stored, group: undefined }],
  ["a key that names nothing", { ...stored, key: "" }],
  ["another host", { ...stored, queue: "https://evil.example/123456789012/payments.fifo" }],
];

describe("faultOf", () => {
  it.each([stored, { ...event, group: undefined }])("finds none in sendable messages: %j", (message) => {
    expect(faultOf(message)).toBeUndefined();
  });

  it.each(BROKEN)("finds %s invalid", (_, message) => {
    expect(faultOf(message)).toBe("MessageInvalid");
  });

  it("reports a message that it does not know: a later version wrote it", () => {
    expect(faultOf({ ...stored, priority: 1 })).toBe("MessageUnknown");
  });
});

describe("outboxSweeper, of stored messages", () => {
  /** Sweeps one commit; answers what was sent, and how far each message has got. */
  async function sweep(...messages: readonly unknown[]) {
    const clock = fakeClock();
    const outbox = new MemoryOutbox(() => {});
    const committedAt = clock.now();
    outbox.add({ recordKey: "op##1", token: "mine", committedAt, messages: messages as StoredMessage[] });
    await clock.advance(61_000);
    const sent: string[] = [];
    const send = async ({ input }: { input: { Entries: { Id: string; MessageBody: string }[] } }) => {
      sent.push(...input.Entries.map(({ MessageBody }) => MessageBody));
      return { Successful: input.Entries.map(({ Id }) => ({ Id, MessageId: Id })) };
    };
    const sqs = { config: {}, send };
    const given = { outbox, destinations: "any", sqs } as const;
    const options = { ...given, clock: timeless(clock), random: fakeRandom("stored"), observe: () => {} };
    await outboxSweeper(options)();
    const { progress = [] } = { ...(await outbox.load("op##1")) };
    return { sent, progress: progress.map(({ state, code }: MessageProgress) => [state, code]) };
  }

  it("parks messages that can never be sent, leaves a later version's to that version, and sends the others", async () => {
    const later = { ...stored, group: "order-8", priority: 1 };

    const { sent, progress } = await sweep(stored, { ...stored, body: 7 }, later);

    expect(sent).toEqual(["paid"]);
    expect(progress).toEqual([
      ["sent", undefined],
      ["parked", "MessageInvalid"],
      ["waiting", "MessageUnknown"],
    ]);
  });
});
