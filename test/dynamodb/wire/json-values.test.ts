import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeOutput, encodeInput } from "../../../lib/dynamodb/wire/json.ts";
import { sdkExchange } from "./given.ts";

const bytes = fc.uint8Array({ maxLength: 9 });
const name = fc.constantFrom("B", "BS", "S", "M", "L", "pk", "__proto__");
const { value: attribute } = fc.letrec<{ value: AttributeValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    fc.record({ S: fc.string({ unit: "binary" }) }),
    fc.record({ N: fc.integer().map(String) }),
    fc.record({ B: bytes }),
    fc.record({ BS: fc.array(bytes, { minLength: 1, maxLength: 3 }) }),
    fc.record({ SS: fc.array(fc.string(), { minLength: 1, maxLength: 3 }) }),
    fc.record({ NULL: fc.constant(true) }),
    fc.record({ BOOL: fc.boolean() }),
    fc.record({ L: fc.array(tie("value"), { maxLength: 3 }) }),
    fc.record({ M: fc.dictionary(name, tie("value"), { maxKeys: 3, noNullPrototype: true }) }),
  ) as fc.Arbitrary<AttributeValue>,
}));
const item = fc.dictionary(
  name.filter((each) => each !== "__proto__"),
  attribute,
  { noNullPrototype: true },
);

describe("encodeInput", () => {
  it("writes items as the SDK does, and changes nothing of what it is given", async () => {
    await fc.assert(
      fc.asyncProperty(item, async (Item) => {
        const input = { TableName: "orders", Item, ConditionExpression: undefined };
        const before = structuredClone(input);
        const answer = { statusCode: 200, headers: {}, body: Buffer.from("{}") };
        const { sent } = await sdkExchange(input, answer);

        expect(JSON.parse(encodeInput(input))).toEqual(JSON.parse(sent));
        expect(input).toEqual(before);
      }),
      { numRuns: 50 },
    );
  });

  it("writes bytes of every kind of view, as far as the view goes", () => {
    const { buffer } = new Uint8Array([0, 1, 2, 3, 4, 5, 6, 7]);
    const views = [
      new Uint8Array(buffer, 1, 2),
      new Uint16Array(buffer, 2, 1),
      new DataView(buffer, 7),
      buffer,
    ];

    expect(JSON.parse(encodeInput(views))).toEqual(["AQI=", "AgM=", "Bw==", "AAECAwQFBgc="]);
  });
});

describe("decodeOutput", () => {
  it("reads back what was written, and finds bytes wherever items are", () => {
    fc.assert(
      fc.property(item, (Item) => {
        const outputs = {
          Item,
          Items: [Item],
          Responses: { B: [Item] },
          CancellationReasons: [{ Code: "None" }, { Item }],
        };

        expect(decodeOutput(encodeInput(outputs))).toEqual(outputs);
      }),
    );
  });
});
