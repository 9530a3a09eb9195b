// How many records of a batch run at the same time by default: the requests and the virtual time that a batch needs.
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import type { SQSRecord } from "aws-lambda";
import { type BatchOptions, idempotentBatch } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";
import { describe, expect, it } from "vitest";
import { DynamoDBModel } from "../../../packages/explorer/lib/aws/dynamodb/dynamodb-model.ts";
import { countRequests } from "../../kit/counting-client.ts";
import { aroundRequests } from "../../kit/faults/around-requests.ts";
import { createTable } from "../../kit/tables.ts";
import { fifoRecord, givenBatch, sqsRecord } from "./given.ts";

const REQUEST_MS = 5;

/** From 5 to 50 ms, spread evenly; the same in each run. */
const workMs = (index: number) => 5 + ((index * 37) % 46);

/**
 * Runs a batch whose handlers write on their own. Each request of the store lasts 5 ms, by the same virtual clock.
 * @returns the requests per message, the virtual time, and how many handlers ran at the same time
 */
async function deliver(records: readonly SQSRecord[], more: Partial<BatchOptions<SQSRecord>> = {}) {
  const { clock, options, context } = givenBatch();
  const client = new DynamoDBClient(new DynamoDBModel().clientConfig());
  const tableName = await createTable(client);
  const counts = countRequests(client);
  aroundRequests(client, async ({ send }) => {
    await clock.sleep(REQUEST_MS);
    return send();
  });
  const order: string[] = [];
  const groups = new Set<string>();
  let [most, running] = [0, 0];
  const handler = idempotentBatch<SQSRecord>(
    async ({ messageId, attributes: { MessageGroupId: group = messageId } }) => {
      expect(groups.has(group)).toBe(false);
      groups.add(group);
      order.push(messageId);
      most = Math.max(most, ++running);
      await clock.sleep(workMs(Number(messageId.slice(1))));
      running--;
      groups.delete(group);
    },
    { ...options, store: new DynamoDBStore({ tableName, client }) as never, ...more },
  );
  const begin = clock.now();
  const { batchItemFailures } = await clock.run(handler({ Records: records }, context()));
  expect(batchItemFailures).toEqual([]);
  return { perMessage: counts.requests / records.length, ms: clock.now() - begin, most, order };
}

const messages = (count: number) => Array.from({ length: count }, (_, index) => sqsRecord(`m${index}`));

describe("a batch whose handlers last 5 to 50 ms", () => {
  it("R1: of 100 messages lasts as long as the longest handler and two requests, with 1.04 requests for each", async () => {
    const { perMessage, ms, most } = await deliver(messages(100));

    expect({ perMessage, ms, most }).toEqual({ perMessage: 1.04, ms: 60, most: 100 });
  });

  it("R1: lasts seven times as long when ten run at the same time", async () => {
    const { ms, most } = await deliver(messages(100), { concurrency: 10 });

    expect(most).toBe(10);
    expect(ms / 60).toBeCloseTo(6.8, 0);
  });

  it("R1: of 1,000 messages claims later messages together, while earlier ones are completed", async () => {
    const { perMessage, most } = await deliver(messages(1000));

    expect(most).toBe(100);
    expect(perMessage).toBeLessThan(1.1);
  });

  it("R1: keeps the order within each FIFO group, and runs all groups at the same time", async () => {
    const records = messages(100).map((_, index) => fifoRecord(`m${index}`, `g${index % 20}`));

    const { most, order } = await deliver(records);

    expect(most).toBe(20);
    for (let group = 0; group < 20; group++) {
      const numbers = order.map((id) => Number(id.slice(1))).filter((number) => number % 20 === group);
      expect(numbers).toEqual(numbers.toSorted((one, other) => one - other));
      expect(numbers).toHaveLength(5);
    }
  });
});
