import { fakeClock } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import {
  Circuit,
  DestinationQueue,
  notSent,
  type SendEnd,
  type SendEntries,
  sentAs,
} from "../../lib/messaging/destination-queue.ts";
import { timeless } from "../kit/time/timeless.ts";

const random = { token: () => "token", fraction: () => 1 };

/** A queue of a destination that refuses the forms `a1` and `1`, and all that has reached it. */
function newQueue() {
  const reached: string[] = [];
  const request: SendEntries<string> = async (forms) => {
    reached.push(...forms);
    return forms.map((form) => (/^a?1/.test(form) ? notSent("Refused", false) : sentAs(form)));
  };
  const queue = new DestinationQueue(request, 1000, { maxTries: 1, clock: fakeClock(), random });
  /** `a1` is of line `a`, and `1` of none. */
  const add = (form: string) =>
    new Promise<SendEnd>((end) => queue.add({ form, bytes: 1, line: form.match(/[a-z]/)?.[0] }, end));
  return { reached, add };
}

describe("DestinationQueue", () => {
  it("H35: sends nothing of a line that comes after one of it has failed for good, and others as before", async () => {
    const { reached, add } = newQueue();

    expect((await add("a1")).result).toEqual({ sent: false, code: "Refused" });
    expect((await add("a2")).result).toEqual({ sent: false, code: "NotAttempted" });
    expect((await add("b1")).result).toMatchObject({ sent: true });

    expect(reached).toEqual(["a1", "b1"]);
  });

  it("goes on after an entry without a line has failed for good", async () => {
    const { add } = newQueue();

    expect((await add("1")).result).toEqual({ sent: false, code: "Refused" });
    expect((await add("2")).result).toMatchObject({ sent: true });
  });

  it.each([
    [1, "Error", []],
    [2, "sent", [100]],
    [3, "sent", [100]],
  ])("of %d tries, a request that fails once as a whole: %s", async (requestTries, expected, slept) => {
    const clock = timeless(fakeClock());
    let requests = 0;
    const request: SendEntries<string> = async (forms) => {
      if (++requests === 1) throw new Error("reset");
      return forms.map((form) => sentAs(form));
    };
    const queue = new DestinationQueue(request, 1000, { maxTries: 1, clock, random, requestTries });

    const { result } = await new Promise<SendEnd>((end) =>
      queue.add({ form: "a1", bytes: 1, line: undefined }, end),
    );

    expect([result.sent ? "sent" : result.code, clock.slept]).toEqual([expected, slept]);
  });
});

describe("Circuit", () => {
  it("opens for 30 seconds after two failures in a row, and after each one that follows", () => {
    const circuit = new Circuit();
    const areOpen = (...times: number[]) => times.map((time) => circuit.isOpen(time));

    circuit.fail(1000);
    circuit.succeed();
    circuit.fail(2000);
    expect(areOpen(2000)).toEqual([false]);
    circuit.fail(3000);
    expect(areOpen(3000, 32_999, 33_000)).toEqual([true, true, false]);
    circuit.fail(33_000);
    expect(areOpen(62_999, 63_000)).toEqual([true, false]);
  });
});
