import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { readRetryAfter, waitBeforeRetry } from "../../lib/client/retry-policy.ts";
import { START } from "./runtime-world.ts";

const inSeconds = (seconds: number) => new Date(START + seconds * 1000).toUTCString();
const bounds = { firstDelaySeconds: 0.5, maxDelaySeconds: 20 };

describe("readRetryAfter", () => {
  test.each([
    ["0", 0],
    ["30", 30_000],
    [" 7 ", 7000],
    [inSeconds(90), 90_000],
    [inSeconds(-90), 0],
    ["Sunday, 01-Mar-26 12:00:10 GMT", 10_000],
    ["Sun Mar  1 12:00:10 2026", 10_000],
    ["-5", undefined],
    ["1.5", undefined],
    ["soon", undefined],
    ["Sunset", undefined],
    ["2026-03-01T12:00:10Z", undefined],
    ["", undefined],
  ])("reads %j as %s ms", (value, expected) => {
    expect(readRetryAfter(new Response(null, { headers: { "retry-after": value } }), START)).toBe(expected);
  });

  it("is absent without the header", () => {
    expect(readRetryAfter(new Response(), START)).toBeUndefined();
  });

  it("compares a date with the server's own, whatever the client's clock shows", () => {
    const response = new Response(null, { headers: { "retry-after": inSeconds(20), date: inSeconds(5) } });

    expect(readRetryAfter(response, START + 86_400_000)).toBe(15_000);
  });
});

describe("waitBeforeRetry", () => {
  test.each([
    [1, 500],
    [2, 1000],
    [3, 2000],
    [6, 16_000],
    [7, 20_000],
    [2000, 20_000],
  ])("waits after try %i at random below %i ms", (tries, bound) => {
    expect(waitBeforeRetry(tries, undefined, bounds, 0)).toBe(0);
    expect(waitBeforeRetry(tries, undefined, bounds, 0.999)).toBeCloseTo(bound * 0.999);
  });

  it("never waits less than Retry-After, and at most a tenth or the first bound more", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 0, max: 3_600_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (tries, retryAfterMs, random) => {
          const waitMs = waitBeforeRetry(tries, retryAfterMs, bounds, random);

          expect(waitMs).toBeGreaterThanOrEqual(retryAfterMs);
          expect(waitMs).toBeLessThanOrEqual(retryAfterMs + Math.max(500, retryAfterMs / 10));
        },
      ),
    );
  });
});
