// Relay and sweeper have rights that those who write records have not.
import { describe, expect, it } from "vitest";
import type { StoredMessage } from "../../lib/core/messages/outgoing-message.ts";
import { connect } from "../../lib/messaging/connections.ts";
import { deliver } from "../../lib/messaging/deliver.ts";
import { readDestinations } from "../../lib/messaging/known-destinations.ts";
import { outboxRelay } from "../../lib/messaging/outbox-relay.ts";
import { outboxSweeper } from "../../lib/messaging/outbox-sweeper.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { MemoryStore } from "../../lib/testing/memory-store.ts";
import { fakeEventBridge, fakeSns } from "../kit/fake-client.ts";

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo";
const TOPIC = "arn:aws:sns:eu-central-1:123456789012:orders";
const rules = { maxTries: 1, clock: fakeClock(), random: { token: () => "token", fraction: () => 1 } };
const paid = { key: "order-7/paid", group: "order-7", body: "{}" };
const event = { source: "shop", detailType: "paid", key: "order-7/paid", body: "{}" };

async function sentTo(destinations: "any" | readonly string[], messages: readonly StoredMessage[]) {
  const asked: string[] = [];
  const sqs = {
    config: {},
    send: async ({ input }: { input: { QueueUrl: string } }) => {
      asked.push(input.QueueUrl);
      return { Successful: [{ Id: "0" }] };
    },
  };
  const clients = { sqs, sns: fakeSns(), eventBridge: fakeEventBridge() };
  const { results } = await deliver(messages, connect(clients, readDestinations(destinations).names), rules);
  return { asked, codes: results.map((result) => (result.sent ? "sent" : result.code)) };
}

describe("a sender that knows its destinations", () => {
  it("H75: sends to these and to no others: a message planted for another one is rejected", async () => {
    const planted = QUEUE.replace("payments", "salaries");
    const messages = [
      { queue: QUEUE, ...paid },
      { queue: planted, ...paid },
      { topic: TOPIC, key: "a", body: "a" },
      { topic: TOPIC.replace("orders", "alarms"), key: "a", body: "a" },
      { bus: "shop", ...event },
      { bus: "other", ...event },
    ];

    const { asked, codes } = await sentTo([QUEUE, TOPIC, "shop"], messages);

    expect(codes).toEqual([
      "sent",
      "DestinationRefused",
      "sent",
      "DestinationRefused",
      "sent",
      "DestinationRefused",
    ]);
    expect(asked).toEqual([QUEUE]);
  });

  it("knows a queue by every spelling of its URL", async () => {
    const other = QUEUE.replace("sqs.eu-central-1", "eu-central-1.queue");

    expect((await sentTo([other], [{ queue: QUEUE, ...paid }])).codes).toEqual(["sent"]);
  });

  it("sends wherever a record points with `any`", async () => {
    expect((await sentTo("any", [{ queue: QUEUE, ...paid }])).codes).toEqual(["sent"]);
  });

  it.each([
    [undefined],
    [null],
    [[]],
    [[undefined]],
    [[QUEUE, undefined]],
    [["payments.fifo?"]],
    [QUEUE],
    [{}],
  ])("H75: R6: relay and sweeper refuse %j as destinations", (destinations) => {
    const options = { outbox: new MemoryStore().outbox, destinations: destinations as never };

    for (const make of [outboxRelay, outboxSweeper]) {
      expect(() => make(options)).toThrow(
        "`destinations` must be an array of at least one queue URL, topic ARN, or event bus name or ARN",
      );
    }
  });
});
