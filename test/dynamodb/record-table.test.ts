import { describe, expect, it } from "vitest";
import { isReservedWord } from "../../lib/aws/dynamodb/expressions/reserved-words.ts";
import { ATTRIBUTES } from "../../lib/contract.ts";
import { type Attribute, recordTable } from "../../lib/dynamodb/record-table.ts";

const ALL = Object.keys(ATTRIBUTES) as Attribute[];

describe("recordTable", () => {
  it("gives an alias to the attributes that DynamoDB reserves, and to no others", () => {
    const { updateOf } = recordTable({ tableName: "records" });
    const values = Object.fromEntries(ALL.map((name) => [name, 1]));

    const { UpdateExpression, ExpressionAttributeNames } = updateOf("key", "#token = :seen", values, {
      seen: "t",
    });

    const reserved = ALL.filter((name) => isReservedWord(ATTRIBUTES[name]));
    expect(Object.keys(ExpressionAttributeNames ?? {}).sort()).toEqual(
      reserved.map((name) => `#${name}`).sort(),
    );
    expect(UpdateExpression).toContain("leaseEndsAt = :leaseEndsAt");
  });

  it("gives an alias to the names that a caller chose, whatever they mean in an expression", () => {
    const { absent, updateOf } = recordTable({
      tableName: "records",
      partitionKey: "a.b",
      ttlAttribute: "ttl",
    });

    expect(absent).toEqual({
      ConditionExpression: "attribute_not_exists(#partitionKey)",
      ExpressionAttributeNames: { "#partitionKey": "a.b" },
    });
    expect(updateOf("key", "#attempt = :attempt", { expiresAt: undefined }, { attempt: 1 })).toMatchObject({
      ConditionExpression: "attempt = :attempt",
      UpdateExpression: "REMOVE #expiresAt",
      ExpressionAttributeNames: { "#expiresAt": "ttl" },
    });
  });

  it("sends no aliases where there are none", () => {
    const { absent } = recordTable({ tableName: "records" });

    expect(absent).toEqual({ ConditionExpression: "attribute_not_exists(pk)" });
  });
});
