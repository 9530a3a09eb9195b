// A saga that waits for an answer until a time, and then turns back.
import { describe, expect, it } from "vitest";
import { SagaCompensatedError } from "../../lib/core/errors.ts";
import { MessageProducer } from "../../lib/messaging/message-producer.ts";
import type { SagaStep } from "../../lib/saga/definition.ts";
import { saga } from "../../lib/saga/saga.ts";
import { fakeClock, MemoryStore } from "../../lib/testing/index.ts";
import { fakeScheduler } from "../kit/fake-scheduler.ts";

const DAY = 86_400_000;
const order = { id: "order-7" };
const queue = "https://sqs.us-east-1.amazonaws.com/000000000000/timeouts";

class NotPaidYet extends Error {}

/** A saga that waits a day for a payment. Its timeout is a message, which compensation takes back. */
function newShop() {
  const clock = fakeClock();
  const scheduler = fakeScheduler(clock);
  const producer = new MessageProducer({ scheduler: scheduler.options, clock });
  const store = new MemoryStore();
  const log: string[] = [];
  const shop = { isPaid: false, fails: false };
  const timeout = (startedAt: number) =>
    ({ queue, key: `${order.id}/timeout`, body: order, deliverAt: new Date(startedAt + DAY) }) as const;
  const steps: SagaStep<typeof order>[] = [
    { name: "reserve", run: () => log.push("reserve"), compensate: () => log.push("undo reserve") },
    {
      name: "timeout",
      run: ({ startedAt }) => producer.send(timeout(startedAt)),
      compensate: ({ startedAt }) => producer.cancel(timeout(startedAt)),
    },
    {
      name: "paid",
      run: () => {
        if (shop.fails) throw new TypeError("no such order");
        if (!shop.isPaid) throw new NotPaidYet();
        return "paid";
      },
      retryLater: (error) => error instanceof NotPaidYet,
      timeoutSeconds: DAY / 1000,
    },
  ];
  const place = saga("place", steps);
  const call = () => place.start({ store, leaseSeconds: 30, clock }, order.id, order);
  return { clock, scheduler, shop, log, call };
}

describe("a saga's step with `timeoutSeconds`", () => {
  it("H81: waits until the message of its own timeout wakes it, and then turns back", async () => {
    const { clock, scheduler, log, call } = newShop();
    await expect(call()).rejects.toBeInstanceOf(NotPaidYet);
    await clock.advance(DAY - 1);
    expect(scheduler.takeDue()).toEqual([]);
    await expect(call()).rejects.toBeInstanceOf(NotPaidYet);
    await clock.advance(1000);
    expect(scheduler.takeDue()).toHaveLength(1);

    await expect(call()).rejects.toMatchObject({
      name: "SagaCompensatedError",
      step: "paid",
      cause: expect.any(NotPaidYet),
    });
    expect(log).toEqual(["reserve", "undo reserve"]);
    await expect(call()).rejects.toMatchObject({ name: "SagaCompensatedError" });
    expect(log).toHaveLength(2);
  });

  it("goes on if the answer is there, even after the time, and the late message changes nothing", async () => {
    const { clock, shop, log, call } = newShop();
    await expect(call()).rejects.toBeInstanceOf(NotPaidYet);
    await clock.advance(2 * DAY);
    shop.isPaid = true;

    for (const _ of [1, 2]) expect(await call()).toMatchObject({ paid: "paid" });
    expect(log).toEqual(["reserve"]);
  });

  it("takes its message back when it's compensated", async () => {
    const { scheduler, shop, log, call } = newShop();
    await expect(call()).rejects.toBeInstanceOf(NotPaidYet);
    shop.fails = true;

    await expect(call()).rejects.toBeInstanceOf(SagaCompensatedError);

    expect(scheduler.schedules.size).toBe(0);
    expect(log).toEqual(["reserve", "undo reserve"]);
  });

  const step = (more: object) => ({ name: "a", run: () => 1, ...more }) as SagaStep<unknown>;
  it.each<[string, SagaStep<unknown>[]]>([
    [
      "must be a number of seconds between 1 and 31622400",
      [step({ retryLater: () => true, timeoutSeconds: 0 })],
    ],
    ["the step a has none: add `retryLater`", [step({ timeoutSeconds: 60 })]],
    [
      "isn't possible after the pivot",
      [step({ name: "b", pivot: true }), step({ retryLater: () => true, timeoutSeconds: 60 })],
    ],
  ])("refuses a time that %s", (why, steps) => {
    expect(() => saga("place", steps)).toThrow(why);
  });
});
