// The age of a message, as the core counts it; test/messaging/message-age.test.ts has each kind of consumer.
import { fakeClock } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { agedCall, commitTimeReader, withCommitTime } from "../../lib/core/message-age.ts";
import type { ResolvedOptions } from "../../lib/core/resolved-options.ts";

const START = 1_700_000_000_000;
const optionsAt = (now: number) =>
  ({
    retentionSeconds: 60,
    clockSkewSeconds: 10,
    clock: fakeClock(now),
  }) as unknown as ResolvedOptions<never>;

describe("agedCall", () => {
  it("changes nothing for a message without a commit", () => {
    const options = optionsAt(START);

    expect(agedCall(options, undefined, {})).toEqual({ options, about: {} });
  });

  it.each([
    ["one millisecond before the retention ends", -1, undefined, undefined],
    ["once the retention has ended", 0, undefined, "reject"],
    ["if the user has chosen to run", 0, "run", undefined],
    ["if the user has chosen to run, before the end", -1, "run", undefined],
  ] as const)("counts from the commit, less the clock skew: %s", (_, after, whenKeyExpired, decided) => {
    const options = optionsAt(START + 50_000 + after);
    const { options: changed, about } = agedCall(options, START, { whenKeyExpired });

    expect(changed).toEqual(decided ? { ...options, whenKeyExpired: decided } : options);
    expect(about).toEqual({ usedSince: START - 10_000 });
  });
});

describe("commitTimeReader", () => {
  it("returns the reader of a marked key reader, and none for others", () => {
    const key = () => "key";
    const read = () => START;

    expect(commitTimeReader(key)).toBeUndefined();
    expect(withCommitTime(key, read)).toBe(key);
    expect(commitTimeReader(key)).toBe(read);
    expect(commitTimeReader(() => "key")).toBeUndefined();
    expect(commitTimeReader("key")).toBeUndefined();
  });
});
