import { describe, expect, it } from "vitest";
import { mergeProgress, type Unsent } from "../../../lib/core/messages/outbox.ts";

describe("mergeProgress", () => {
  it("adds my sent messages to those that another sender has taken and no sender has tried", () => {
    const messages = [1, 2].map((name) => ({ queue: "payments", key: `${name}`, body: "{}" }));
    const taken: Unsent = { recordKey: "op##1", token: "mine", committedAt: 1, messages, shard: 0, dueAt: 1 };
    const waiting = { state: "waiting", tries: 1 } as const;

    expect(mergeProgress([{ state: "sent", tries: 1 }, waiting], taken)).toEqual([
      { state: "sent", tries: 1 },
      { state: "waiting", tries: 0 },
    ]);
    expect(mergeProgress([waiting, waiting], taken)).toBeUndefined();
    expect(mergeProgress([], taken)).toBeUndefined();
  });

  it("adds nothing that the other sender has sent too", () => {
    const sent = { state: "sent", tries: 1 } as const;
    const messages = [{ queue: "payments", key: "1", body: "{}" }];
    const theirs: Unsent = { recordKey: "op##1", token: "t", committedAt: 1, messages, shard: 0, dueAt: 1 };

    expect(mergeProgress([sent], { ...theirs, progress: [{ ...sent, tries: 2 }] })).toBeUndefined();
  });
});
