import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import { marshall } from "@aws-sdk/util-dynamodb";
import { describe, expect, it } from "vitest";
import { ATTRIBUTES } from "../../lib/contract.ts";
import { RecordCorruptError } from "../../lib/core/errors.ts";
import { type Attribute, readRecord, recordTable } from "../../lib/dynamodb/record-table.ts";
import { isReservedWord } from "../../packages/explorer/lib/aws/dynamodb/expressions/reserved-words.ts";

const ALL = Object.keys(ATTRIBUTES) as Attribute[];

const stepOf = (step: unknown) => ({ steps: { M: marshall({ charge: step }) } });

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

  it("sends no aliases if there are none", () => {
    const { absent } = recordTable({ tableName: "records" });

    expect(absent).toEqual({ ConditionExpression: "attribute_not_exists(pk)" });
  });
});

const table = recordTable({ tableName: "records", ttlAttribute: "ttl" });

const WHOLE = {
  version: 1,
  state: "completed",
  token: "token-1",
  attempt: 2,
  leaseEndsAt: 1_900_000_030_000,
  fingerprint: "1:abc",
  createdAt: 1_900_000_000_000,
  completedAt: 1_900_000_010_000,
};

const stored = (change: Record<string, AttributeValue | undefined> = {}) => {
  const item = { ...marshall({ pk: "op##hash", ...WHOLE, ttl: 1_900_086_400 }), ...change };
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== undefined)) as typeof item &
    Record<string, AttributeValue>;
};

describe("readRecord", () => {
  it("reads a record under the names of its table", () => {
    expect(readRecord(table, stored())).toEqual({ ...WHOLE, expiresAt: 1_900_086_400 });
  });

  it("leaves absent what is absent", () => {
    const record = readRecord(table, stored({ ttl: undefined, completedAt: undefined }));

    expect(Object.keys(record ?? {}).sort()).toEqual(
      Object.keys(WHOLE)
        .filter((name) => name !== "completedAt")
        .sort(),
    );
  });

  it.each<[Record<string, AttributeValue>, object]>([
    [{ result: { S: '"text"' } }, { in: "record", text: '"text"' }],
    [{ resultItem: { S: "op##hash#of" } }, { in: "item", address: "op##hash#of" }],
    [{ resultBytes: { N: "500000" } }, { in: "nowhere", bytes: 500_000 }],
  ])("reads the result's location from %j", (attributes, result) => {
    expect(readRecord(table, stored(attributes))?.result).toEqual(result);
  });

  it("reads steps", () => {
    const written = { attempt: 2, at: 2 ** 53 - 1 };
    const attributes = marshall({
      none: { state: "done", ...written },
      small: { state: "done", ...written, result: "1" },
      large: { state: "done", ...written, resultItem: "op##hash#of" },
      largest: { state: "done", ...written, resultBytes: 17 },
      asked: { state: "begun", ...written, asks: true },
    });

    expect(readRecord(table, stored({ steps: { M: attributes } }))?.steps).toEqual({
      none: { state: "done", ...written },
      small: { state: "done", ...written, result: { in: "record", text: "1" } },
      large: { state: "done", ...written, result: { in: "item", address: "op##hash#of" } },
      largest: { state: "done", ...written, result: { in: "nowhere", bytes: 17 } },
      asked: { state: "begun", ...written, asks: true },
    });
  });

  it.each<[string, Record<string, AttributeValue | undefined>]>([
    ["no version", { version: undefined }],
    ["a version in words", { version: { S: "one" } }],
    ["no state", { state: undefined }],
    ["an unknown state", { state: { S: "paused" } }],
    ["a state that is a name of Object", { state: { S: "constructor" } }],
    ["no token", { token: undefined }],
    ["a token that is a number", { token: { N: "1" } }],
    ["an attempt in words", { attempt: { S: "2" } }],
    ["no lease", { leaseEndsAt: undefined }],
    ["a lease that loses digits as it is read", { leaseEndsAt: { N: "9007199254740993" } }],
    ["an attempt beyond all counting", { attempt: { N: "1e125" } }],
    ["a lease in words", { leaseEndsAt: { S: "1900000030000" } }],
    ["no fingerprint", { fingerprint: { NULL: true } }],
    ["no time of creation", { createdAt: undefined }],
    ["a time of completion in words", { completedAt: { S: "now" } }],
    ["an expiry in words", { ttl: { S: "1900086400" } }],
    ["steps that are a list", { steps: { L: [] } }],
    ["a step that is text", stepOf("done")],
    ["a step of an unknown state", stepOf({ state: "half", attempt: 1, at: 1 })],
    ["a step of no attempt", stepOf({ state: "done", at: 1 })],
    ["a step of no time", stepOf({ state: "done", attempt: 1 })],
    [
      "a step with another record's result",
      stepOf({ state: "done", attempt: 1, at: 1, resultItem: "op##other#of" }),
    ],
    ["a step with an address that is a number", stepOf({ state: "done", attempt: 1, at: 1, resultItem: 1 })],
    ["a step with a size in words", stepOf({ state: "done", attempt: 1, at: 1, resultBytes: "x" })],
    ["a result that is a number", { result: { N: "1" } }],
    ["a compressed result that is cut off", { result: { B: new Uint8Array([0x1f, 0x8b, 8]) } }],
    ["an address that is a number", { resultItem: { N: "1" } }],
    ["an address under another record's key", { resultItem: { S: "op##hash2#of" } }],
    ["an address that is the record's own", { resultItem: { S: "op##hash" } }],
    ["a size in words", { resultBytes: { S: "many" } }],
  ])("refuses a record with %s", (_, change) => {
    expect(() => readRecord(table, stored(change))).toThrow(RecordCorruptError);
  });

  it("names the attribute and never its value", () => {
    expect(() => readRecord(table, stored({ token: { N: "4711" } }))).toThrow(/token/);
    expect(() => readRecord(table, stored({ token: { N: "4711" } }))).not.toThrow(/4711/);
  });
});
