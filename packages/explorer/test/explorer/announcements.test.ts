// What a handler publishes and puts on buses is an effect, whether somebody listens there or not.
import "../../../../test/kit/shop/environment.ts";
import { EventBridge } from "@aws-sdk/client-eventbridge";
import { SNS } from "@aws-sdk/client-sns";
import { idempotent } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { describe, expect, it } from "vitest";
import { relayed } from "../../../../test/kit/shop/relay-and-sweeper.ts";
import { explore } from "../../lib/explorer/explore.ts";
import type { ExploreOptions } from "../../lib/explorer/options.ts";
import type { Simulator } from "../../lib/simulator/simulator.ts";

const TOPIC = "arn:aws:sns:us-east-1:000000000000:orders";
const sns = new SNS();
const eventBridge = new EventBridge();

interface Order {
  readonly id: string;
}

const options: ExploreOptions = {
  tables: { orders: { partitionKey: "id" } },
  idempotencyTable: "idempotency",
  timeoutSeconds: 6,
  setUp(aws: Simulator) {
    aws.topic("orders");
    aws.bus("shop");
  },
};

const settings = {
  operation: "announce",
  store: new DynamoDBStore({ tableName: "idempotency" }),
  key: ({ id }: Order) => id,
};

describe("explore", () => {
  it.each<[string, string, (id: string) => Promise<unknown>]>([
    ["publishes", "messages in orders instead of 1", (id) => sns.publish({ TopicArn: TOPIC, Message: id })],
    [
      "puts an event on a bus",
      "messages in shop instead of 1",
      (id) =>
        eventBridge.putEvents({
          Entries: [
            { EventBusName: "shop", Source: "shop", DetailType: "new", Detail: JSON.stringify({ id }) },
          ],
        }),
    ],
  ])("finds a handler that %s next to its commit", async (_, what, announce) => {
    const handler = idempotent<unknown, Order, DynamoDBWrite>(async ({ id }, { idempotency }) => {
      await announce(id);
      const Put = { TableName: "orders", Item: { id } };
      return idempotency.commit({ id }, { writes: [{ Put }] });
    }, settings);

    const report = await explore(handler, { id: "7" }, options);

    expect(String(report)).toContain(what);
  });

  it("finds nothing if they are committed", async () => {
    const handler = idempotent<unknown, Order, DynamoDBWrite>(
      async ({ id }, { idempotency }) =>
        idempotency.commit(
          { id },
          {
            writes: [{ Put: { TableName: "orders", Item: { id } } }],
            messages: [
              { topic: TOPIC, key: `${id}/created`, body: { id } },
              { bus: "shop", source: "shop", detailType: "created", key: `${id}/created`, body: { id } },
            ],
          },
        ),
      settings,
    );
    const setUp = (aws: Simulator) => {
      options.setUp?.(aws);
      relayed(aws);
    };

    const report = await explore(handler, { id: "7" }, { ...options, setUp });

    expect(report.findings).toEqual([]);
  });
});
