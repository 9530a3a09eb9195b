// When an event happened: the commit's time, however often and however late it is put.
import { afterEach, beforeEach, describe, expect, inject, it } from "vitest";
import { eventBridgeEntry } from "../../lib/messaging/eventbridge.ts";
import { type EntryFault, fakeEventBridge } from "../kit/fake-client.ts";
import { connect } from "../kit/tables.ts";
import { newOutboxWorld, type OutboxWorld } from "./outbox-world.ts";

const event = {
  bus: "shop",
  source: "orders",
  detailType: "created",
  key: "order-7/created",
  body: { id: 7 },
};

describe.each(inject("dynamodbEngines"))("events of commits, on $name", ({ endpoint }) => {
  const dynamodb = connect(endpoint);
  let world: OutboxWorld;

  beforeEach(async () => {
    world = await newOutboxWorld(dynamodb, endpoint);
  });
  afterEach(() => world.stop());

  it("have the time of their commit, at each try, from the relay as from the sweeper", async () => {
    const committedAt = world.clock.now();
    const eventBridge = fakeEventBridge();
    let fault: EntryFault | undefined = { Code: "MalformedDetail" };
    eventBridge.faultOf = () => fault;
    await world.order({ key: "order-7", messages: [event] });

    await world.relay(undefined, { eventBridge });
    fault = undefined;
    await world.clock.advance(3 * 3_600_000);
    await world.sweep({ eventBridge });

    const times = eventBridge.requests.flat().map((entry) => (entry as { Time?: Date }).Time?.getTime());
    expect(times).toEqual([committedAt, committedAt]);
    expect(await world.isUnsent("order-7")).toBe(false);
  });
});

it("the time counts into the size of a request, as EventBridge counts it", () => {
  const stored = { ...event, body: JSON.stringify(event.body) };

  const inEnvelope = ',"at":0'.length;
  const more = eventBridgeEntry({ ...stored, committedAt: 0 }).bytes - eventBridgeEntry(stored).bytes;
  expect(more).toBe(14 + inEnvelope);
});
