import { describe, expect, it } from "vitest";
import { dueTimeOf, readDeliverAt } from "../../../lib/core/messages/deliver-at.ts";
import type { OutgoingMessage } from "../../../lib/core/messages/outgoing-message.ts";
import { faultOf, prepareMessage, prepareMessages } from "../../../lib/core/messages/prepare-message.ts";

const message: OutgoingMessage = {
  queue: "https://sqs.us-east-1.amazonaws.com/000000000000/reminders",
  key: "order-7/remind",
  body: "b",
};
const prepare = (more: object) => prepareMessage("the message", { ...message, ...more });

describe("deliverAt", () => {
  it.each<[unknown, string]>([
    [new Date("2026-12-24T18:00:00Z"), "2026-12-24T18:00:00.000Z"],
    ["2026-12-24T18:00:00+01:00", "2026-12-24T17:00:00.000Z"],
    ["2026-12-24T18:00-08:30", "2026-12-25T02:30:00.000Z"],
    ["2028-02-29T00:00:00.5Z", "2028-02-29T00:00:00.500Z"],
    ["2028-02-29T00:00:00.1234Z", "2028-02-29T00:00:00.123Z"],
    [new Date(1e12), "2001-09-09T01:46:40.000Z"],
    ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59.000Z"],
  ])("reads %s as a time in UTC, and reads that again", (given, time) => {
    const stored = prepare({ deliverAt: given });

    expect(stored.deliverAt).toBe(time);
    expect(dueTimeOf(stored)).toBe(Date.parse(time));
    expect(prepare({ deliverAt: stored.deliverAt })).toEqual(stored);
    expect(faultOf(JSON.parse(JSON.stringify(stored)))).toBeUndefined();
  });

  it.each([
    "2026-12-24T18:00:00",
    "2026-12-24",
    "2026-12-24T18:00:00+15:00",
    "2026-02-30T00:00:00Z",
    "2026-12-24T24:00:00Z",
    "2026-13-01T00:00:00Z",
    "0000-01-01T00:00:00Z",
    "10000-01-01T00:00:00Z",
    "tomorrow",
    "",
    1_798_131_600_000,
    null,
    {},
    ["2026-12-24T18:00:00Z"],
    new Date(Number.NaN),
    new Date(1_798_131_600),
    new Date(8.64e15),
  ])("refuses %s", (given) => {
    expect(readDeliverAt(given)).toBeUndefined();
    expect(() => prepare({ deliverAt: given })).toThrow("the message: `deliverAt` must be a valid Date, or");
  });

  it("refuses a second delay, and a body that's too large for a schedule", () => {
    const deliverAt = new Date("2026-12-24T18:00:00Z");
    expect(() => prepare({ deliverAt, delaySeconds: 7 })).toThrow("has both `deliverAt` and `delaySeconds`");
    const largest = "b".repeat(245_760 - '["",null]'.length);
    prepare({ deliverAt, body: largest });
    expect(() => prepare({ deliverAt, body: `${largest}b` })).toThrow("245761 bytes as JSON");
    expect(() => prepare({ deliverAt, body: '"'.repeat(200_000) })).toThrow("allowed with `deliverAt`");
    prepare({ body: `${largest}b` });
  });

  it("refuses one key for two times", () => {
    const two = ["2026-12-24T18:00:00Z", "2026-12-25T18:00:00Z"].map((deliverAt) => ({
      ...message,
      deliverAt,
    }));
    expect(() => prepareMessages(two)).toThrow("a different body, attributes or time");
    expect(dueTimeOf(message as never)).toBeNaN();
    expect(dueTimeOf({ deliverAt: 7 })).toBeNaN();
  });
});
