// Commits with `deliverAt`: schedules below the SDK's own client, made by relay and sweeper.
import { SendMessageCommand } from "@aws-sdk/client-sqs";
import { describe, expect, inject, it } from "vitest";
import { fakeScheduler, inputOf } from "../kit/fake-scheduler.ts";
import { newProcess } from "../kit/faults/dying-process.ts";
import { connect } from "../kit/tables.ts";
import { newOutboxWorld } from "./outbox-world.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe("a commit with `deliverAt`", () => {
  const { endpoint } = inject("dynamodbEngines")[0]!;
  const newShop = async () => {
    const world = await newOutboxWorld(connect(endpoint), endpoint);
    const scheduler = fakeScheduler(world.clock);
    const later = (name: string, ms: number) =>
      world.message(name, { deliverAt: new Date(world.clock.now() + ms) });
    const options = { scheduler: scheduler.options };
    return { world, scheduler, options, later };
  };

  /** EventBridge Scheduler does what its universal target says. */
  const deliverDue = async ({ world, scheduler }: Awaited<ReturnType<typeof newShop>>) => {
    for (const due of scheduler.takeDue()) {
      await world.sqs.send(new SendMessageCommand(inputOf(due) as never));
    }
  };

  it("is scheduled by the relay, after which nothing waits, and has its effect once it's due", async () => {
    const shop = await newShop();
    const { world, options } = shop;
    // Longer than a consumer remembers messages: its age counts from `deliverAt`.
    await world.order({ key: "a", messages: [shop.later("a1", 40 * DAY), world.message("a2")] });

    expect(await world.relay(undefined, options)).toBe(0);
    expect(await world.isUnsent("a")).toBe(false);
    await world.consume();
    expect(world.delivered).toEqual(["a2"]);

    await world.clock.advance(40 * DAY);
    await deliverDue(shop);
    await world.consume();
    expect(await world.effectsOf("a")).toEqual(["a2", "a1"]);
    await world.stop();
  });

  it("is created once if the relay dies between the create and the mark, whenever the batch comes again", async () => {
    const shop = await newShop();
    const { world, scheduler } = shop;
    for (const [index, wait] of [0, HOUR, 3 * DAY].entries()) {
      const group = `g${index}x`;
      await world.order({ key: group, messages: [shop.later(`${group}1`, DAY)] });
      let requests = 0;
      const process = newProcess(undefined, async (command) => {
        requests += Number(command === "CreateSchedule");
        if (requests > 0 && command === "UpdateItem") process.die();
      });
      const client = process.clientOf(scheduler.client);
      expect(await world.relay(process, { scheduler: { ...scheduler.options, client } })).toBeGreaterThan(0);
      expect(scheduler.schedules.size).toBe(1);

      await world.clock.advance(wait);
      await deliverDue(shop);
      expect(await world.relay(undefined, shop.options)).toBe(0);
      expect(scheduler.schedules.size).toBe(wait < DAY ? 1 : 0);

      await world.clock.advance(DAY);
      await deliverDue(shop);
      await world.consume();
      expect(await world.effectsOf(group)).toEqual([`${group}1`]);
    }
    await world.stop();
  });

  it("is retried while EventBridge Scheduler refuses, without holding up its FIFO group, and is sent when it's due", async () => {
    const shop = await newShop();
    const { world, scheduler } = shop;
    await world.order({ key: "a", messages: [shop.later("a1", HOUR), world.message("a2")] });

    expect(await world.relay(undefined, {})).toBe(0);
    await world.consume();
    expect(world.delivered).toEqual(["a2"]);
    expect(world.events.at(-1)).toMatchObject({
      event: "send-failed",
      error: { message: expect.stringContaining("DestinationRefused") },
    });
    scheduler.faults.push("ServiceQuotaExceededException");
    await world.clock.advance(120_000);
    expect(await world.sweep(shop.options)).toMatchObject({ failed: 1 });

    await world.clock.advance(HOUR);
    expect(await world.sweep(shop.options)).toMatchObject({ sent: 1 });
    await world.consume();
    expect(world.delivered).toEqual(["a2", "a1"]);
    expect(scheduler.schedules.size).toBe(0);
    await world.stop();
  });
});
