// One process at a time does the work: it asks for a lease, renews it in time, and gives it back.
import { describe, expect, it } from "vitest";
import { type Lease, Turn } from "../../lib/core/turn.ts";
import { fakeClock } from "../../lib/testing/index.ts";

const LEASE_MS = 30_000;

/** @param answers whether the lease is granted, for each request in turn; granted if there are none left */
function turnOf({ until = Number.POSITIVE_INFINITY, answers = [] as (boolean | Error)[] } = {}) {
  const clock = fakeClock(1_000_000);
  const asked: Lease[] = [];
  const lease = async (request: Lease) => {
    asked.push(request);
    const answer = answers.shift() ?? true;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const turn = new Turn(lease, clock, () => ({ id: "me", now: clock.now(), until }));
  return { clock, asked, turn };
}

describe("Turn", () => {
  it("asks for 30 seconds, and again after 10", async () => {
    const { clock, asked, turn } = turnOf();
    const start = clock.now();

    expect(await turn.isMine()).toBe(true);
    await clock.advance(9999);
    expect(await turn.isMine()).toBe(true);
    expect(asked).toEqual([{ id: "me", now: start, until: start + LEASE_MS }]);

    await clock.advance(1);
    expect(await turn.isMine()).toBe(true);
    expect(asked[1]).toEqual({ id: "me", now: start + 10_000, until: start + 10_000 + LEASE_MS });
  });

  it.each([LEASE_MS, LEASE_MS - 1])("asks once for the rest of an invocation of %s ms", async (ms) => {
    const { clock, asked, turn } = turnOf({ until: 1_000_000 + ms });
    const start = clock.now();
    await turn.isMine();
    await clock.advance(LEASE_MS);

    expect(await turn.isMine()).toBe(true);
    expect(asked).toEqual([{ id: "me", now: start, until: start + ms }]);
  });

  it("asks again within an invocation that lasts longer than the lease", async () => {
    const { clock, asked, turn } = turnOf({ until: 1_000_000 + LEASE_MS + 1 });
    await turn.isMine();
    await clock.advance(10_000);
    await turn.isMine();

    expect(asked).toHaveLength(2);
  });

  it("asks once for workers that ask at the same time", async () => {
    const { asked, turn } = turnOf();

    expect(await Promise.all([turn.isMine(), turn.isMine()])).toEqual([true, true]);
    expect(asked).toHaveLength(1);
  });

  it("is over once another process has the lease, and isn't given back then", async () => {
    const { clock, asked, turn } = turnOf({ answers: [true, false] });
    await turn.isMine();
    await clock.advance(10_000);

    expect(await turn.isMine()).toBe(false);
    await clock.advance(LEASE_MS);
    expect(await turn.isMine()).toBe(false);
    await turn.end();
    expect(asked).toHaveLength(2);
  });

  it("asks again after a request that failed", async () => {
    const failure = new Error("no answer");
    const { turn } = turnOf({ answers: [failure] });

    await expect(turn.isMine()).rejects.toBe(failure);
    expect(await turn.isMine()).toBe(true);
  });

  it("gives the lease back, and doesn't fail if that can't be written", async () => {
    const { clock, asked, turn } = turnOf({ answers: [true, new Error("no answer")] });
    await turn.isMine();

    await turn.end();

    expect(asked[1]).toEqual({ id: "me", now: clock.now(), until: 0 });
  });
});
