import { describe, expect, it } from "vitest";
import { OldestWaiting } from "../../lib/messaging/oldest-waiting.ts";
import { MemoryOutbox } from "../../lib/testing/memory-outbox.ts";

describe("OldestWaiting", () => {
  it("remembers a thousand commits, and of more only the first, so its memory is bounded", async () => {
    const outbox = new MemoryOutbox(() => {});
    const oldest = new OldestWaiting(outbox);
    const times = Array.from({ length: 1001 }, (_, index) => 2001 - index);
    for (const committedAt of times) {
      const recordKey = `op##${committedAt}`;
      const messages = [{ queue: "q", key: "k", body: "" }];
      outbox.add({ recordKey, token: "mine", committedAt, messages });
      oldest.note({ recordKey, committedAt });
    }

    expect([times.at(-2), times.at(-1)]).toEqual([1002, 1001]);
    expect(await oldest.committedAt()).toBe(1002);
  });

  /** Commits of these times that wait, and are remembered. */
  function remembered(...times: number[]) {
    const outbox = new MemoryOutbox(() => {});
    const oldest = new OldestWaiting(outbox);
    const keyOf = (committedAt: number) => `op##${committedAt}`;
    for (const committedAt of times) {
      const messages = [{ queue: "q", key: "k", body: "" }];
      outbox.add({ recordKey: keyOf(committedAt), token: "mine", committedAt, messages });
      oldest.note({ recordKey: keyOf(committedAt), committedAt });
    }
    return { outbox, oldest, keyOf };
  }

  it("passes over commits that are sent, parked or forgotten", async () => {
    const { outbox, oldest, keyOf } = remembered(4, 2, 1, 3);
    outbox.forget(keyOf(1));
    await outbox.park(keyOf(2), 7);
    oldest.forget(keyOf(3));

    expect(await oldest.committedAt()).toBe(4);
  });

  it("looks up five commits for an answer, and the next ones for the next answer", async () => {
    const { outbox, oldest, keyOf } = remembered(1, 2, 3, 4, 5, 6);
    for (const time of [1, 2, 3, 4, 5]) outbox.forget(keyOf(time));

    expect(await oldest.committedAt()).toBeUndefined();
    expect(await oldest.committedAt()).toBe(6);
  });
});
