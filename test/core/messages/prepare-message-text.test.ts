import { describe, expect, it } from "vitest";
import { bodyText, messageText } from "../../../lib/core/messages/message-text.ts";
import type { OutgoingMessage } from "../../../lib/core/messages/outgoing-message.ts";
import { prepareMessage } from "../../../lib/core/messages/prepare-message.ts";
import { toBus, toQueue, toTopic } from "./given.ts";

const SQS_BYTES = 1_048_576;
const TOPIC_BYTES = 258_048;
const EVENT_BYTES = 1_044_480;

describe("bodyText", () => {
  it("leaves strings unchanged", () => {
    for (const text of ['a "quoted" 😀\t\r\n', "{", "\u0085 \u2028 \ud7ff \ue000 \ufffd"]) {
      expect(bodyText("the message", text)).toBe(text);
    }
  });

  it.each(["", "\u0000", "\u0000a", "a\u001f", "\ufffe", "\uffff", "\ud800", "\udc00\ud800"])(
    "rejects strings that SQS doesn't accept: %j",
    (text) => {
      expect(() => bodyText("the message", text)).toThrow(
        expect.objectContaining({ code: "PAYLOAD_INVALID" }),
      );
    },
  );

  it("writes anything else as JSON, in characters that SQS accepts", () => {
    const values = [null, 7, true, [], { text: "\ufffe\uffff\u0001\ud800" }];

    expect(values.map((value) => bodyText("the message", value))).toEqual([
      "null",
      "7",
      "true",
      "[]",
      '{"text":"\\ufffe\\uffff\\u0001\\ud800"}',
    ]);
  });

  it("writes what JSON reads as the same", () => {
    const value = { text: "\ufffe\uffff\ud800é😀" };

    expect(JSON.parse(messageText(value))).toEqual(value);
  });
});

describe("prepareMessage, by the size of a body", () => {
  const prepare = (message: object) => prepareMessage("the message", message as OutgoingMessage).body;
  const refused = expect.objectContaining({ code: "PAYLOAD_INVALID" });

  it.each([
    [toQueue, SQS_BYTES],
    [toTopic, TOPIC_BYTES],
  ] as const)("accepts it up to the last byte that its destination accepts (%#)", (message, bytes) => {
    const body = `é${"x".repeat(bytes - 2)}`;

    expect(prepare({ ...message, body })).toBe(body);
    expect(() => prepare({ ...message, body: `${body}x` })).toThrow(refused);
  });

  it("F3: allows a topic's own `maximumMessageSize`, less 4 KiB for the envelope", () => {
    const body = "x".repeat(SQS_BYTES - 4096);
    const message = { ...toTopic, maximumMessageSize: SQS_BYTES };

    expect(prepare({ ...message, body })).toBe(body);
    expect(() => prepare({ ...message, body: `${body}x` })).toThrow(refused);
    expect(() => prepare({ ...toTopic, body })).toThrow(/pass the topic's `maximumMessageSize`/);
  });

  it.each([1024, 5119, 1_048_577, 8192.5, "262144", null])(
    "F3: refuses a `maximumMessageSize` that no topic has, or that leaves less than 1 KiB for a body: %j",
    (maximumMessageSize) => {
      expect(() => prepare({ ...toTopic, maximumMessageSize, body: "x" } as never)).toThrow(
        /between 5120 and 1048576: 4096 are reserved for the envelope/,
      );
    },
  );

  it("F3: allows 1 KiB in the smallest topic that it accepts", () => {
    const message = { ...toTopic, maximumMessageSize: 5120 };

    expect(prepare({ ...message, body: "x".repeat(1024) })).toHaveLength(1024);
    expect(() => prepare({ ...message, body: "x".repeat(1025) })).toThrow(/the 1024 allowed/);
  });

  it("F3: refuses `maximumMessageSize` for a queue or a bus", () => {
    for (const message of [toQueue, toBus]) {
      expect(() => prepare({ ...message, maximumMessageSize: 2048, body: {} } as never)).toThrow(
        /`maximumMessageSize` isn't a field of this message/,
      );
    }
  });

  it("measures an event as the JSON it becomes", () => {
    const event = (length: number) => ({ ...toBus, body: { text: "x".repeat(length) } });
    const around = '{"text":""}'.length;

    expect(prepare(event(EVENT_BYTES - around))).toHaveLength(EVENT_BYTES);
    expect(() => prepare(event(EVENT_BYTES - around + 1))).toThrow(refused);
  });
});
