import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  byKey,
  byKeyAndBody,
  deduplicationIdOf,
  groupIdOf,
  sqsEntry,
} from "../../lib/messaging/sqs-and-sns.ts";

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const SQS_ALPHABET = /^[A-Za-z0-9!"#$%&'()*+,\-./:;<=>?@[\\\]^_`{|}~]{1,128}$/;

type Identity = [group: string, key: string, attempt?: number];

/** Short parts of few characters, so that parts of two tuples often join to the same text. */
const part = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "b", ":", "#", "1", "é"), minLength: 1, maxLength: 4 }),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 255 }),
);
const identity = fc.tuple(part, part, fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }));

describe("deduplicationIdOf", () => {
  it("is in the alphabet of SQS, and the same for the same identity only", () => {
    fc.assert(
      fc.property(identity, identity, (left, right) => {
        const [leftId, rightId] = [deduplicationIdOf(...left), deduplicationIdOf(...right)];

        expect(leftId).toMatch(SQS_ALPHABET);
        expect(leftId === rightId).toBe(JSON.stringify(left) === JSON.stringify(right));
        expect(deduplicationIdOf(...left)).toBe(leftId);
      }),
      { numRuns: 500 },
    );
  });

  it.each<[Identity, Identity]>([
    [
      ["ab", "c"],
      ["a", "bc"],
    ],
    [
      ["a", "b"],
      ["b", "a"],
    ],
    [
      ["a", "b"],
      ["a", "b", 1],
    ],
    [
      ["a", "b1"],
      ["a", "b", 1],
    ],
    [
      ["a", "b", 1],
      ["a", "b", 11],
    ],
  ])("distinguishes %j from %j", (left, right) => {
    expect(deduplicationIdOf(...left)).not.toBe(deduplicationIdOf(...right));
  });

  it("is pinned: an id that changes with a release would let a duplicate through", () => {
    expect(deduplicationIdOf("order-7", "order-7/created")).toBe(
      "ZW3ddFjc9bwvxS_rc1vyZeWJ_d2V2RFp6O8AQ4W66bs",
    );
    expect(groupIdOf("order 7")).toBe("sha256:bBqhsv4bRA6IQpNB1fbhyf_BKy6OHbaljslsuqG-z-o");
  });
});

describe("byKeyAndBody", () => {
  it("is in the alphabet of SQS, and the same for the same group, key and body only", () => {
    const message = fc.record({ group: part, key: part, body: part });
    fc.assert(
      fc.property(message, message, (left, right) => {
        const same =
          [left.group, left.key, left.body].join("\n") === [right.group, right.key, right.body].join("\n");

        expect(byKeyAndBody(left)).toMatch(SQS_ALPHABET);
        expect(byKeyAndBody(left) === byKeyAndBody(right)).toBe(same);
        expect(byKeyAndBody({ ...left, body: `${left.body}!` })).not.toBe(byKeyAndBody(left));
        expect(byKeyAndBody(left)).not.toBe(byKey(left));
      }),
      { numRuns: 300 },
    );
  });

  it("differs for other attributes, and is pinned as the ids by key are", () => {
    const message = { group: "order-7", key: "order-7/created", body: "{}" };

    expect(byKeyAndBody(message)).toBe("19TTVlFD8VV6QFwyC7mjRI_a1088AtBfTVDBi5gTTVs");
    expect(byKeyAndBody({ ...message, attributes: { total: 7 } })).toBe(
      "KF4kBoZ_p866jWrINgCVAfr4UwOLKS6goQy_a9bOfZg",
    );
  });
});

describe("sqsEntry", () => {
  const message = { queue: "https://sqs.eu-central-1.amazonaws.com/123456789012/mails", key: "k", body: "b" };

  it("types attributes as numbers and strings", () => {
    const { MessageAttributes } = sqsEntry({ ...message, attributes: { total: 7, kind: "7" } }).form;

    expect(MessageAttributes).toMatchObject({
      total: { DataType: "Number", StringValue: "7" },
      kind: { DataType: "String", StringValue: "7" },
    });
  });

  it("has the delay of a message, and none for a message without", () => {
    expect(sqsEntry({ ...message, delaySeconds: 5 }).form.DelaySeconds).toBe(5);
    expect(sqsEntry(message).form).not.toHaveProperty("DelaySeconds");
  });
});

describe("groupIdOf", () => {
  it("is in the alphabet of SQS, and the same for the same group only", () => {
    const group = fc.oneof(part, part.map(groupIdOf));

    fc.assert(
      fc.property(group, group, (left, right) => {
        expect(groupIdOf(left)).toMatch(SQS_ALPHABET);
        expect(groupIdOf(left) === groupIdOf(right)).toBe(left === right);
      }),
      { numRuns: 500 },
    );
  });

  it.each(["7", "order-7", "!~", "g".repeat(128)])("keeps %j unchanged", (group) => {
    expect(groupIdOf(group)).toBe(group);
  });

  it.each(["order 7", "größe", "g".repeat(129), "sha256:x", groupIdOf("order 7")])("hashes %j", (group) => {
    expect(groupIdOf(group)).toMatch(/^sha256:[\w-]{43}$/);
    expect(groupIdOf(group)).not.toBe(group);
  });
});
