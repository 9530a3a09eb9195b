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
});
