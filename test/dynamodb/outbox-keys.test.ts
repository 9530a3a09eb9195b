// An outbox without the names of its table's keys finds no record, and reports that.
import { randomUUID } from "node:crypto";
import { describe, expect, inject, it } from "vitest";
import { DynamoDBOutbox } from "../../lib/dynamodb/dynamodb-outbox.ts";
import { outboxRelay, outboxSweeper } from "../../lib/messaging/index.ts";
import { connect } from "../kit/tables.ts";
import { newOutboxTable } from "./outbox-given.ts";

/** The sweeper reads its notes first, and DynamoDB refuses that key. */
const WRONG = /must have the key pk, and the index outbox|and not pk: give `partitionKey`/;

describe.each(inject("dynamodbEngines"))(
  "an outbox without the names of its keys on $name",
  ({ endpoint }) => {
    const client = connect(endpoint);

    /** One commit whose messages wait in a table of a single-table design. */
    async function given() {
      const table = await newOutboxTable(client, endpoint, true);
      const { finish } = await table.begin("claimed", { token: randomUUID() });
      await finish();
      return { ...table, blind: new DynamoDBOutbox({ tableName: table.tableName, client }) };
    }

    it("is reported by the sweeper, which throws", async () => {
      const { blind, tableName } = await given();

      await expect(outboxSweeper({ outbox: blind, destinations: "any" })({})).rejects.toThrow(WRONG);
      await expect(outboxSweeper({ outbox: blind, destinations: "any" })({})).rejects.toThrow(tableName);
      const finding = async () => {
        for (let shard = 0; shard < blind.shards; shard++) {
          for await (const _ of blind.findUnsent(shard, Number.MAX_SAFE_INTEGER));
        }
      };
      await expect(finding()).rejects.toThrow(
        /its key is (?:PK and SK|SK and PK), not pk: set `partitionKey`/,
      );
    });

    it("is reported by the relay, which leaves the change in its stream", async () => {
      const { blind, nextChanges, tableName } = await given();
      const Records = await nextChanges();

      const call = outboxRelay({ outbox: blind, destinations: "any" })({ Records } as never);

      await expect(call).rejects.toThrow(
        `the table ${tableName} has the key PK and SK, but the outbox expects pk: set \`partitionKey\`, and \`sortKey\` if it has one`,
      );
    });
  },
);
