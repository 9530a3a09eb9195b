import { describe, expect, it } from "vitest";
import { checkAttributes } from "../../../lib/core/messages/message-attributes.ts";
import { prepareMessage, prepareMessages } from "../../../lib/core/messages/prepare-message.ts";

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";
const TOPIC = "arn:aws:sns:eu-central-1:123456789012:orders";

const names = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`a${index}`, index]));

describe("attributes of a message", () => {
  it.each<object>([
    { "content-type": "application/json", correlation_id: "7", "shop.tenant": "é" },
    { a: 0, b: -1.5, c: Number.MAX_SAFE_INTEGER, d: 0.000001 },
    { ["n".repeat(256)]: "v" },
    { awsome: "v", amazon: "v", AWSTraceHeader: "v" },
    JSON.parse('{"__proto__":"v","constructor":"v"}'),
    names(9),
  ])("are kept unchanged (%#)", (attributes) => {
    const kept = checkAttributes("a", attributes);

    expect(Object.entries(kept ?? {}).sort()).toEqual(Object.entries(attributes).sort());
    expect(JSON.parse(JSON.stringify(kept))).toEqual(kept);
  });

  it("are sorted by name, so that one message has one text", () => {
    expect(Object.keys(checkAttributes("a", { c: 1, a: 2, b: 3 }) ?? {})).toEqual(["a", "b", "c"]);
  });

  it("are none if they are left out, undefined or empty", () => {
    expect([undefined, {}].map((attributes) => checkAttributes("a", attributes))).toEqual([
      undefined,
      undefined,
    ]);
  });

  it("are a copy: later changes to the caller's own don't matter", () => {
    const attributes: Record<string, string> = { kind: "paid" };
    const { attributes: kept } = prepareMessage("a", { queue: QUEUE, key: "k", body: "b", attributes });

    attributes.kind = "refunded";

    expect(kept).toEqual({ kind: "paid" });
  });

  it.each<[unknown, string]>([
    ["secret", "must be an object whose values are strings or numbers"],
    [null, "must be an object whose values are strings or numbers"],
    [["secret"], "must be an object whose values are strings or numbers"],
    [new Map([["kind", "secret"]]), "must be an object whose values are strings or numbers"],
    [names(10), "has 10 attributes, but only 9 fit next to the envelope"],
    [{ OnceonlyEnvelope: "secret" }, "`OnceonlyEnvelope` is reserved"],
    [{ onceonlyenvelope: "secret" }, "`onceonlyenvelope` is reserved"],
    [{ "AWS.SNS.MOBILE.MPNS.Type": "secret" }, "not begin with `AWS.` or `Amazon.`"],
    [{ "amazon.x": "secret" }, "not begin with `AWS.` or `Amazon.`"],
    [{ "": "secret" }, "1 to 256 letters"],
    [{ ["n".repeat(257)]: "secret" }, "1 to 256 letters"],
    [{ ".a": "secret" }, "single dots inside"],
    [{ "a.": "secret" }, "single dots inside"],
    [{ "a..b": "secret" }, "single dots inside"],
    [{ "a b": "secret" }, "1 to 256 letters"],
    [{ kind: "" }, "`kind` is empty, and queues don't accept that: leave it out"],
    [{ kind: "secret\u0000" }, "`kind` has characters that SQS doesn't accept"],
    [{ kind: undefined }, "`kind` must be a string or a number (got undefined)"],
    [{ kind: null }, "`kind` must be a string or a number"],
    [{ kind: true }, "`kind` must be a string or a number (got true)"],
    [{ kind: 7n }, "`kind` must be a string or a number"],
    [{ kind: ["secret"] }, "`kind` must be a string or a number"],
    [{ kind: { StringValue: "secret", DataType: "String" } }, "`kind` must be a string or a number"],
    ...[Number.NaN, Number.POSITIVE_INFINITY, 1e21, 1e-7].map((kind): [unknown, string] => [
      { kind },
      "`kind` must be a number that can be written without an exponent",
    ]),
  ])(
    "that no queue accepts, or that are onceonly's own, are rejected without their value (%#)",
    (attributes, why) => {
      const message = { queue: QUEUE, key: "k", body: "b", attributes } as never;

      expect(() => prepareMessage("messages[3]", message)).toThrow(
        expect.objectContaining({ code: "PAYLOAD_INVALID", message: expect.stringContaining(why) }),
      );
      expect(() => prepareMessage("messages[3]", message)).not.toThrow(/secret/);
    },
  );

  it("count into the size of a message", () => {
    const message = { topic: TOPIC, key: "k", body: "b".repeat(258_048 - "kindStringpaid".length) };

    expect(prepareMessage("a", { ...message, attributes: { kind: "paid" } }).body).toHaveLength(258_034);
    expect(() => prepareMessage("a", { ...message, attributes: { kind: "paid!" } })).toThrow(
      "the body and its attributes are 258049 bytes, which is more than the 258048 allowed",
    );
  });

  it("distinguish two messages of one key; their order doesn't", () => {
    const message = { queue: QUEUE, key: "k", body: "b" };

    expect(() =>
      prepareMessages([
        { ...message, attributes: { kind: "paid" } },
        { ...message, attributes: { kind: "sent" } },
      ]),
    ).toThrow("a different body, attributes or time");
    expect(
      prepareMessages([
        { ...message, attributes: { kind: "paid", cents: 1 } },
        { ...message, attributes: { cents: 1, kind: "paid" } },
      ]),
    ).toHaveLength(2);
  });
});
