import { crc32 } from "node:zlib";
import type { AttributeValue, ConditionalCheckFailedException } from "@aws-sdk/client-dynamodb";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failureKind } from "../../../lib/dynamodb/wire/failure-kind.ts";
import { decodeOutput, encodeInput, readAnswer } from "../../../lib/dynamodb/wire/json.ts";
import { type GivenAnswer, sdkExchange } from "./given.ts";

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
  it("writes items as the SDK does, and doesn't change its input", async () => {
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

const NAMESPACE = "com.amazonaws.dynamodb.v20120810#";

function answered(statusCode: number, body: unknown, headers: Record<string, string> = {}): GivenAnswer {
  return { statusCode, headers, body: Buffer.from(typeof body === "string" ? body : JSON.stringify(body)) };
}

function thrownBy(answer: GivenAnswer): Error & Record<string, unknown> {
  try {
    readAnswer(answer);
  } catch (error) {
    return error as Error & Record<string, unknown>;
  }
  throw new Error("nothing was thrown");
}

describe("readAnswer", () => {
  it("answers the output, with the database's time", () => {
    const date = "Sun, 22 Nov 2026 21:00:00 GMT";
    const output = { Attributes: { n: { N: "1" }, b: { B: "AQ==" } } };

    expect(readAnswer(answered(200, output, { date }))).toEqual({
      Attributes: { n: { N: "1" }, b: { B: new Uint8Array([1]) } },
      serverTimeMs: Date.UTC(2026, 10, 22, 21),
    });
    expect(readAnswer(answered(200, {}))).toEqual({ serverTimeMs: undefined });
  });

  it.each([
    [
      "a refused condition",
      400,
      { __type: `${NAMESPACE}ConditionalCheckFailedException`, message: "no", Item: { b: { B: "AQ==" } } },
    ],
    [
      "a canceled transaction",
      400,
      {
        __type: `${NAMESPACE}TransactionCanceledException`,
        Message: "canceled",
        CancellationReasons: [
          { Code: "None" },
          { Code: "ConditionalCheckFailed", Message: "no", Item: { a: { S: "1" } } },
        ],
      },
    ],
    [
      "throttling",
      400,
      { __type: "com.amazon.coral.availability#ThrottlingException", message: "slow down" },
    ],
    [
      "an invalid signature",
      400,
      { __type: "com.amazon.coral.service#InvalidSignatureException", message: "no" },
    ],
    ["a server's error", 500, { __type: `${NAMESPACE}InternalServerError`, message: "sorry" }],
  ])("creates the SDK's error for %s", async (_, statusCode, body) => {
    const answer = answered(statusCode, body, { "x-amzn-requestid": "request-1" });
    const { result } = await sdkExchange({ TableName: "orders", Item: {} }, answer);
    const { name, message, $fault, Item, CancellationReasons, $metadata } =
      result as ConditionalCheckFailedException & {
        CancellationReasons?: unknown;
      };
    const { httpStatusCode, requestId } = $metadata;

    const error = thrownBy(answer);

    expect({ ...error, name: error.name, message: error.message }).toEqual({
      name,
      message,
      $fault,
      $metadata: { httpStatusCode, requestId },
      ...(Item && { Item }),
      ...(CancellationReasons !== undefined && { CancellationReasons }),
    });
    expect(failureKind(error)).toBe(failureKind(result));
  });

  it.each([
    ["a page of a gateway", answered(200, "<html>log in</html>")],
    ["nothing", answered(200, "")],
    ["JSON that is no object", answered(200, "7")],
    ["another success than 200", answered(204, "{}")],
    ["half of an answer", answered(200, '{"Item":')],
    ["an answer that was changed on its way", answered(200, "{}", { "x-amz-crc32": `${crc32("{ }")}` })],
    ["an error that was changed on its way", answered(400, "{}", { "x-amz-crc32": "1" })],
  ])("does not believe %s, which another try may correct, and repeats none of it", (_, answer) => {
    const error = thrownBy(answer);

    expect(error.name).toBe("UnreadableAnswerError");
    expect(failureKind(error)).toBe("TRANSIENT");
    expect(error.message).not.toContain("log in");
  });

  it("believes an answer with its checksum", () => {
    const body = JSON.stringify({ Count: 1 });

    expect(readAnswer(answered(200, body, { "x-amz-crc32": `${crc32(body)}` }))).toMatchObject({ Count: 1 });
  });

  it.each([
    [503, "", "UnknownError", "TRANSIENT"],
    [403, "forbidden", "UnknownError", "CLIENT_ERROR"],
    [301, "", "UnknownError", "CLIENT_ERROR"],
    [501, "{}", "UnknownError", "SERVER_ERROR"],
    [429, "", "UnknownError", "THROTTLING"],
  ])("recognizes a failure in between with %i by its status", (statusCode, body, name, kind) => {
    const error = thrownBy(answered(statusCode, body));

    expect(error).toMatchObject({ name, $metadata: { httpStatusCode: statusCode } });
    expect(failureKind(error)).toBe(kind);
  });
});

describe("failureKind", () => {
  it("looks for temporary failures in causes too, and stops at circles", () => {
    const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    const circle = new Error("round");
    circle.cause = circle;

    expect(failureKind(new TypeError("fetch failed", { cause: reset }))).toBe("TRANSIENT");
    expect(failureKind(circle)).toBe("CLIENT_ERROR");
    expect(failureKind(new DOMException("given up", "AbortError"))).toBe("CLIENT_ERROR");
    expect(failureKind(undefined)).toBe("CLIENT_ERROR");
  });

  it("treats a signature from another time as temporary once the clock is corrected", () => {
    const name = "InvalidSignatureException";

    expect(failureKind({ name, message: "Signature expired: 1 is now earlier than 2" })).toBe("TRANSIENT");
    expect(failureKind({ name, message: "the key is wrong" })).toBe("CLIENT_ERROR");
    expect(failureKind({ name, $metadata: { clockSkewCorrected: true } })).toBe("TRANSIENT");
  });
});
