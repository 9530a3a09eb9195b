// A saga that stands still for days while the other side's clock runs: all is undone, or an error says that nobody knows.
import { describe, expect, it } from "vitest";
import { isExpired } from "../../lib/core/record.ts";
import { type ParticipantOptions, participant } from "../../lib/saga/participant.ts";
import { saga } from "../../lib/saga/saga.ts";
import { fakeClock, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";

const HOUR = 3_600_000;
const DAY_SECONDS = 86_400;

/** Ten pieces of stock behind a participant, and a saga that takes three of them and then fails to charge. */
function given(more: Partial<ParticipantOptions<string, number, MemoryWrite>> = {}, passesTime = true) {
  const clock = fakeClock(1_700_000_000_000);
  const theirs = new MemoryStore();
  const ours = new MemoryStore();
  const stock = { free: 10 };
  let isDown = true;
  const reserve = participant<string, number, MemoryWrite>({
    ...{ operation: "reserve", store: theirs, leaseSeconds: 30, renewLease: false, clock },
    run: () => {
      stock.free -= 3;
      return 3;
    },
    compensate: (_, taken) => {
      stock.free += taken ?? 0;
    },
    ...more,
  });
  const at = (startedAt: number) => (passesTime ? { startedAt } : {});
  const place = (charges: () => void) =>
    saga<string, MemoryWrite>("place", [
      {
        name: "reserve",
        run: async ({ input, childKey, startedAt }) => {
          const answer = await reserve.run(childKey(), input, at(startedAt));
          if (!answer.done) throw new Error("the reservation was undone");
        },
        compensate: ({ input, stepKey, startedAt }) => {
          if (isDown) throw new Error("the stock service is down");
          return reserve.compensate(stepKey(), input, at(startedAt));
        },
      },
      { name: "charge", run: charges },
    ]).start({ store: ours, leaseSeconds: 30, renewLease: false, clock }, "order-1", "a book");
  const refused = () => {
    throw new Error("card refused");
  };
  /** DynamoDB deletes what has expired, sooner or later. */
  const deleteExpired = () => {
    for (const store of [ours, theirs])
      for (const [recordKey, record] of [...store.records])
        if (isExpired(record, clock.now())) store.alter(recordKey, undefined);
  };
  return { clock, stock, reserve, place, refused, deleteExpired, theirs, repair: () => (isDown = false) };
}

const WAITS = [23, 25, 73].flatMap((hours) => [true, false].map((deletes) => [hours, deletes] as const));

describe.each(WAITS)("after %d hours, expired records deleted: %s", (hours, deletes) => {
  it("H79: R1: a participant undoes what a held saga has reserved", async () => {
    const { clock, stock, place, refused, deleteExpired, repair } = given();
    await expect(place(refused)).rejects.toMatchObject({ code: "SAGA_PENDING" });
    expect(stock.free).toBe(7);
    await clock.advance(hours * HOUR);
    if (deletes) deleteExpired();
    repair();

    await expect(place(refused)).rejects.toMatchObject({ name: "SagaCompensatedError" });

    expect(stock.free).toBe(10);
  });

  it("H79: R1: a participant that gets no time from the caller undoes too, and reserves once", async () => {
    const { clock, stock, reserve, deleteExpired } = given({}, false);
    await reserve.run("key-1", "a book");
    await clock.advance(hours * HOUR);
    if (deletes) deleteExpired();

    expect(await reserve.run("key-1", "a book")).toEqual({ done: true, result: 3 });
    expect(stock.free).toBe(7);
    await reserve.compensate("key-1", "a book");
    expect(stock.free).toBe(10);
  });

  it("H79: R1: a participant that remembers for a day undoes, or reports that it can't know", async () => {
    const { clock, stock, place, refused, deleteExpired, repair } = given({ retentionSeconds: DAY_SECONDS });
    await expect(place(refused)).rejects.toMatchObject({ code: "SAGA_PENDING" });
    await clock.advance(hours * HOUR);
    if (deletes) deleteExpired();
    repair();

    const error = await place(refused).catch((thrown: unknown) => thrown);

    const cause = {
      code: "IDEMPOTENCY_KEY_INVALID",
      message: expect.stringContaining("has expired or may"),
    };
    if (hours < 24) expect(error).toMatchObject({ name: "SagaCompensatedError" });
    else expect(error).toMatchObject({ code: "SAGA_PENDING", pending: ["reserve/compensate"], cause });
    expect(stock.free).toBe(hours < 24 ? 10 : 7);
  });

  it("H79: R1: a step that is resumed reserves nothing twice", async () => {
    for (const retentionSeconds of [undefined, DAY_SECONDS]) {
      const { clock, stock, reserve, deleteExpired } = given({ retentionSeconds });
      const about = { startedAt: clock.now() };
      await reserve.run("key-1", "a book", about);
      await clock.advance(hours * HOUR);
      if (deletes) deleteExpired();

      const answer = await reserve
        .run("key-1", "a book", about)
        .catch(({ code }: { code: string }) => ({ code }));

      const isKept = hours < 24 || retentionSeconds === undefined;
      expect(answer).toEqual(isKept ? { done: true, result: 3 } : { code: "IDEMPOTENCY_KEY_INVALID" });
      expect(stock.free).toBe(7);
    }
  });
});

describe("a participant", () => {
  it("H79: R1: refuses a step and a compensation whose record has expired, also without a time", async () => {
    for (const call of ["run", "compensate"] as const) {
      const { clock, reserve, stock } = given({}, false);
      await reserve.run("key-1", "a book");
      await clock.advance(367 * 24 * HOUR);

      await expect(reserve[call]("key-1", "a book")).rejects.toMatchObject({
        code: "IDEMPOTENCY_KEY_INVALID",
      });
      expect(stock.free).toBe(7);
    }
  });

  it("H79: R1: that remembers for less than a year wants to know when the saga began", async () => {
    const { reserve, stock } = given({ retentionSeconds: DAY_SECONDS });

    for (const about of [undefined, {}, { startedAt: Number.NaN }, { startedAt: "now" as never }]) {
      await expect(reserve.run("key-1", "a book", about)).rejects.toThrow("`startedAt` must be the time");
      await expect(reserve.compensate("key-1", "a book", about)).rejects.toMatchObject({
        code: "INVALID_OPTION",
      });
    }
    expect(stock.free).toBe(10);
  });

  it("H79: R1: a later saga with the key of one that was undone isn't informed that its step is done", async () => {
    const { clock, place, refused, repair, deleteExpired, stock } = given();
    repair();
    await expect(place(refused)).rejects.toMatchObject({ name: "SagaCompensatedError" });
    // By then the saga's own record has expired.
    await clock.advance(25 * HOUR);
    deleteExpired();

    await expect(place(() => {})).rejects.toMatchObject({ name: "SagaCompensatedError", step: "reserve" });
    expect(stock.free).toBe(10);
  });

  it("reads nothing more for a step of a young saga", async () => {
    const { clock, reserve, theirs } = given();
    const methods: string[] = [];
    const find = theirs.find.bind(theirs);
    theirs.find = (...parameters) => {
      methods.push("find");
      return find(...parameters);
    };

    await reserve.run("key-1", "a book", { startedAt: clock.now() });

    expect(methods).toEqual([]);
  });
});
