import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readEnvelope } from "../../lib/messaging/envelope.ts";
import { noteRequests } from "../kit/faults/faulty-sqs.ts";
import { newWorld, type World } from "./given.ts";

const MINUTE = 60_000;
const PAID = { key: "order-7/paid", group: "7", body: "paid" };

let world: World;

beforeEach(async () => {
  world = await newWorld();
});

afterEach(() => world.stop());

const bodies = async () => (await world.drain()).map(({ Body }) => Body);

describe("FifoProducer.resend", () => {
  it.each([1, 4, 6])("H29: delivers once more, %i minutes after the first copy", async (minutes) => {
    await world.producer.send(PAID);
    const [first] = await world.drain();
    await world.clock.advance(minutes * MINUTE);

    await world.producer.resend({ ...PAID, attempt: 1 });
    await world.producer.resend({ ...PAID, attempt: 1 });

    const again = await world.drain();
    expect(again.map(({ Body }) => Body)).toEqual(["paid"]);
    expect(again[0]?.MessageId).not.toBe(first?.MessageId);
    expect(readEnvelope(again[0]?.MessageAttributes)).toEqual(readEnvelope(first?.MessageAttributes));
  });

  it("H29: delivers once for each attempt that is named", async () => {
    await world.producer.send(PAID);
    for (const attempt of [1, 2, 2, 3]) await world.producer.resend({ ...PAID, attempt });

    expect(await bodies()).toEqual(["paid", "paid", "paid", "paid"]);
  });

  it("H30: brings back work whose first copy was consumed and failed, if send can't", async () => {
    await world.producer.send(PAID);
    await world.drain();
    await world.clock.advance(MINUTE);

    await world.producer.send(PAID);
    expect(await bodies()).toEqual([]);
    await world.producer.resend({ ...PAID, attempt: 1 });

    expect(await bodies()).toEqual(["paid"]);
  });

  it("refuses an attempt that is not given, before anything is sent", async () => {
    const requests = noteRequests(world.client);

    await expect(world.producer.resend(PAID as never)).rejects.toMatchObject({ code: "MESSAGE_ID_INVALID" });
    expect(requests).toEqual([]);
  });
});
