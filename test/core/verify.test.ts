// Attempts with an unknown end, where somebody can be asked.
import { describe, expect, it } from "vitest";
import { OutcomeUnknownError, StoreUnavailableError } from "../../lib/core/errors.ts";
import { type AbandonedAttempt, keptOf, type Verification } from "../../lib/core/verify.ts";
import { answerLost, failing } from "../kit/faults/faulty-store.ts";
import { abandoned, evidenceOf, never, type WhenAbandoned } from "./abandoned-given.ts";
import { newWorld, START } from "./world.ts";

describe("whenAbandoned: verify", () => {
  it("H42: completes an attempt that happened with its result, which every caller gets, and nothing runs", async () => {
    const asked: AbandonedAttempt[] = [];
    const world = await abandoned((previous) => {
      asked.push(previous);
      const evidence = { asked: "GET /charges", answered: "200, one charge" };
      return { outcome: "happened", result: { charge: "ch_1" }, evidence };
    });

    const outcome = await world.clock.run(world.start(never));
    expect(outcome).toEqual({ replayed: true, result: { charge: "ch_1" } });
    expect(await world.call(never)).toEqual({ charge: "ch_1" });

    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      key: "key-1",
      operation: "create-order",
      scope: "tenant-1",
      attempt: 1,
      fence: 2,
      startedAt: START,
      leaseEndedAt: START + 35_000,
      askedAt: START + 36_000,
    });
    expect(world.record()).toMatchObject({ state: "completed", attempt: 2, expiresAt: expect.any(Number) });
    expect(world.decisions()).toEqual(["verified", "replayed"]);
    expect(evidenceOf(world)).toEqual({
      verdict: "happened",
      by: "verify",
      at: START + 36_000,
      attempt: 1,
      asked: "GET /charges",
      answered: "200, one charge",
    });
  });

  it("asks with the child key that the handler passed on", async () => {
    const keys: string[] = [];
    const world = newWorld({
      whenAbandoned: ({ childKey }) => {
        keys.push(childKey("charge"), childKey("charge", { maxLength: 32 }));
        return { outcome: "happened", result: undefined };
      },
    });
    world.start(({ childKey }) => {
      keys.push(childKey("charge"), childKey("charge", { maxLength: 32 }));
      return new Promise(() => {});
    });
    await world.clock.advance(36_000);

    expect(await world.call(never)).toBeUndefined();
    expect(keys.slice(2)).toEqual(keys.slice(0, 2));
  });

  it("H42: runs an attempt that did not happen, under the claim that asked, and stores its evidence with the end", async () => {
    const world = await abandoned(async () => ({ outcome: "did-not-happen" }));

    expect(await world.call(async ({ attempt }) => `attempt ${attempt}`)).toBe("attempt 2");

    expect(world.decisions()).toEqual(["taken-over", "executed"]);
    expect(evidenceOf(world)).toMatchObject({ verdict: "did-not-happen", by: "verify", attempt: 1 });
    expect(world.record()).toMatchObject({ state: "completed", attempt: 2 });
  });

  it("does not ask about a record that ended, was released, or has expired", async () => {
    let asked = 0;
    const whenAbandoned = () => ({ outcome: "unknown", asked: asked++ }) as const;
    const world = newWorld({ whenAbandoned });

    await world.call(() => Promise.reject(new Error("again"))).catch(() => {});
    await world.call(never);
    await world.call(never);
    await world.clock.advance(86_400_000);
    await world.call(never);

    expect(asked).toBe(0);
  });

  it.each<[string, WhenAbandoned, string | undefined]>([
    ["says so", () => ({ outcome: "unknown", evidence: { answered: "503" } }), "503"],
    ["throws", () => Promise.reject(new TypeError("card canary-5f2e")), "threw TypeError"],
    [
      "throws at once",
      (() => {
        throw new RangeError("card canary-5f2e");
      }) as WhenAbandoned,
      "threw RangeError",
    ],
    ["throws no error", () => Promise.reject("card canary-5f2e"), "threw something else"],
    [
      "throws an error whose name holds a payload",
      () => Promise.reject(Object.assign(new Error("no"), { name: "card canary-5f2e" })),
      "threw something else",
    ],
    ["never answers", () => new Promise(() => {}), "threw TimeoutError"],
    ["answers nothing", (() => undefined) as unknown as WhenAbandoned, "threw InvalidOptionError"],
    ["answers yes", (() => "happened") as unknown as WhenAbandoned, "threw InvalidOptionError"],
    ["answers wrongly", (() => ({ outcome: "yes" })) as unknown as WhenAbandoned, "threw InvalidOptionError"],
    [
      "forgets the result",
      (() => ({ outcome: "happened" })) as unknown as WhenAbandoned,
      "threw InvalidOptionError",
    ],
    [
      "gives a result that no replay could equal",
      () => ({ outcome: "happened", result: new Date(0) }),
      "threw ResponseNotStorableError",
    ],
    [
      "gives evidence that isn't a string",
      (() => ({ outcome: "unknown", evidence: { answered: 503 } })) as unknown as WhenAbandoned,
      undefined,
    ],
  ])("H42: holds the key if verify %s", async (_, whenAbandoned, answered) => {
    const world = await abandoned(whenAbandoned);
    const why = answered?.startsWith("threw") ? ` (verify ${answered})` : "";

    await expect(world.call(never)).rejects.toThrow(
      new OutcomeUnknownError(undefined, why && answered).message,
    );

    expect(world.record().state).toBe("held");
    expect(evidenceOf(world)).toEqual(
      expect.objectContaining({ verdict: "unknown", by: "verify", ...(answered && { answered }) }),
    );
    expect(JSON.stringify(world.record())).not.toContain("canary");
    expect(world.decisions()).toEqual(["held"]);
  });

  it("reports to the caller and the observer why verify did not answer", async () => {
    const world = await abandoned(() => Promise.reject(new TypeError("no such path")));

    const error = await world.call(never).catch((error: unknown) => error);

    expect(error).toMatchObject({ code: "OUTCOME_UNKNOWN", cause: new TypeError("no such path") });
    expect(world.events.at(-1)?.error).toEqual(new TypeError("no such path"));
  });

  it("names the option in the error about a wrong answer", async () => {
    const world = await abandoned((() => ({ outcome: "yes" })) as unknown as WhenAbandoned);

    await expect(world.call(never)).rejects.toMatchObject({ cause: { option: "whenAbandoned" } });
  });

  it("gives verify half of the time, aborts its signal, and leaves the other half to the handler", async () => {
    let signal: AbortSignal | undefined;
    const world = await abandoned((previous) => {
      signal = previous.signal;
      return new Promise(() => {});
    });
    const since = world.clock.now();

    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);

    expect(signal?.reason).toMatchObject({ name: "TimeoutError" });
    expect(world.clock.now() - since).toBe(14_750);
  });

  it("aborts no signal of a verify that answered", async () => {
    let signal: AbortSignal | undefined;
    const world = await abandoned((previous) => {
      signal = previous.signal;
      return { outcome: "did-not-happen" };
    });

    await world.call(never);
    await world.clock.advance(60_000);

    expect(signal?.aborted).toBe(false);
  });

  it("cuts long evidence", async () => {
    const answered = `${"a".repeat(255)}😀 and more`;
    const world = await abandoned(() => ({ outcome: "unknown", evidence: { asked: answered, answered } }));

    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);

    expect(evidenceOf(world).answered).toBe(`${"a".repeat(255)}\ufffd`);
    expect(world.record().evidence?.length).toBeLessThan(700);
  });

  it.each([
    ["a text", "canary-5f2e"],
    ["nothing", null],
    ["more than two texts", { answered: "200", card: "canary-5f2e", 0: "canary-5f2e" }],
  ])("H38: stores no other evidence than two strings if verify gives %s", async (_, evidence) => {
    const world = await abandoned((() => ({ outcome: "unknown", evidence })) as unknown as WhenAbandoned);

    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);

    const facts = ["at", "attempt", "by", "verdict"];
    const names = evidence instanceof Object ? ["answered", ...facts].sort() : facts;
    expect(Object.keys(evidenceOf(world)).sort()).toEqual(names);
    expect(JSON.stringify(world.record())).not.toContain("canary");
  });

  it.each<[string, object]>([
    ["held", { since: 5, lastError: { name: "Error", at: 3 } }],
    ["released", { lastError: { name: "Error", at: 3 } }],
  ])("keeps of the previous evidence of a key that is %s only what still counts", (state, kept) => {
    const evidence = { verdict: "unknown", by: "verify", at: 5, attempt: 1 } as const;

    expect(keptOf(state, { ...evidence, lastError: { name: "Error", at: 3 } })).toEqual(kept);
    expect(keptOf(state, { ...evidence, verdict: "did-not-happen" })).toEqual({});
  });

  it("asks once more about a held key, once a minute, until the outcome is known", async () => {
    const answers: Verification[] = [
      { outcome: "unknown" },
      { outcome: "unknown" },
      { outcome: "happened", result: "charged" },
    ];
    let asked = 0;
    const leaseEnds: number[] = [];
    const world = await abandoned(({ leaseEndedAt }) => {
      leaseEnds.push(leaseEndedAt - START);
      return answers[asked++] as Verification;
    });

    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);
    await world.clock.advance(59_999);
    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);
    expect(asked).toBe(1);
    await world.clock.advance(1);
    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);
    expect(asked).toBe(2);
    await world.clock.advance(60_000);

    expect(await world.call(never)).toBe("charged");
    expect(world.record()).toMatchObject({ state: "completed", attempt: 4 });
    expect(world.decisions()).toEqual(["held", "held", "held", "verified"]);
    // A held key counts from when it was first held: no handler has run since.
    expect(leaseEnds).toEqual([35_000, 36_000, 36_000]);
  });

  it.each(["{", "null", '{"at":"soon"}', undefined])(
    "asks about a held key whose evidence is %s",
    async (evidence) => {
      const world = await abandoned(() => ({ outcome: "happened", result: "charged" }));
      for (const recordKey of world.memory.records.keys()) {
        world.memory.alter(recordKey, { state: "held", evidence });
      }

      expect(await world.call(never)).toBe("charged");
    },
  );

  it('one caller asks, and the others get "in progress" until then', async () => {
    let asked = 0;
    const world = await abandoned(async () => {
      asked++;
      await world.clock.sleep(1000);
      return { outcome: "happened", result: "charged" };
    });

    const first = world.start(never);
    await world.clock.advance(0);
    await expect(world.start(never)).rejects.toThrow("in progress");
    await world.clock.advance(1000);

    expect(await first).toMatchObject({ replayed: true, result: "charged" });
    expect(asked).toBe(1);
  });

  it("asks again if the response to its claim was lost", async () => {
    const world = await abandoned(() => ({ outcome: "happened", result: "charged" }));

    expect(await world.call(never, { store: answerLost(world.memory, "claim") })).toBe("charged");
    expect(world.record().attempt).toBe(2);
  });

  it("H1: an answer that comes after another call has taken over changes nothing", async () => {
    const world = await abandoned(async () => {
      await world.clock.sleep(10_000);
      return { outcome: "happened", result: "mine" };
    });
    const slow = world.start(never);
    await world.clock.advance(0);
    const { recordKey, ...record } = { recordKey: [...world.memory.records.keys()][0]!, ...world.record() };
    world.memory.alter(recordKey, {
      ...record,
      state: "completed",
      token: "other",
      result: { in: "record", text: '"theirs"' },
    });

    await world.clock.advance(10_000);

    expect(await slow).toEqual({ replayed: true, result: "theirs" });
    expect(world.decisions()).toEqual(["claim-lost", "replayed"]);
  });

  it("H42: dies after the answer and before it is recorded: the next call asks again", async () => {
    let asked = 0;
    const world = await abandoned(() => {
      asked++;
      return { outcome: "happened", result: "charged" };
    });
    const store = failing(world.memory, "settle", "before");
    await expect(world.call(never, { store })).rejects.toThrow(StoreUnavailableError);
    await world.clock.advance(36_000);

    expect(await world.call(never)).toBe("charged");
    expect(asked).toBe(2);
  });

  it("H42: reports how long ago the attempt ended however often it is asked, so a look-up that lags can conclude", async () => {
    const ends: number[] = [];
    const world = await abandoned(({ askedAt, leaseEndedAt }) => {
      ends.push(leaseEndedAt - START);
      return { outcome: askedAt - leaseEndedAt < 200_000 ? "unknown" : "did-not-happen" };
    });

    for (let minute = 0; minute < 4; minute++) {
      await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);
      await world.clock.advance(60_000);
    }

    expect(await world.call(never)).toBe("ran");
    expect(ends).toEqual([35_000, 36_000, 36_000, 36_000, 36_000]);
  });

  it("H42: an attempt that ran after the key was held, and died, counts from its own end", async () => {
    const answers = ["unknown", "did-not-happen", "unknown", "unknown"] as const;
    const ends: number[] = [];
    const world = await abandoned(({ leaseEndedAt }) => {
      ends.push(leaseEndedAt - START);
      return { outcome: answers[ends.length - 1] ?? "unknown" };
    });
    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);
    await world.clock.advance(60_000);
    void world.start(() => new Promise(() => {}));
    await world.clock.advance(60_000);
    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);
    await world.clock.advance(60_000);
    await expect(world.call(never)).rejects.toThrow(OutcomeUnknownError);

    expect(ends).toEqual([35_000, 36_000, 131_000, 156_000]);
  });
});
