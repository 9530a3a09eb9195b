import { describe, expect, it } from "vitest";
import { claimCheckOf, claimCheckText, findClaimCheck } from "../../lib/messaging/claim-check.ts";

const check = claimCheckOf("body", "bodies", "onceonly/");
const text = claimCheckText(check);
const [pointer, place] = JSON.parse(text) as [string, object];
const TopicArn = "arn:aws:sns:eu-central-1:123456789012:orders";

describe("findClaimCheck", () => {
  it.each<[string, object | string, (body: string) => string]>([
    ["the whole text", text, (body) => body],
    [
      "the message of a notification",
      { TopicArn, Message: text },
      (Message) => JSON.stringify({ TopicArn, Message }),
    ],
    [
      "the message in a pipe's record",
      { eventSource: "aws:sqs", body: text },
      (body) => JSON.stringify({ eventSource: "aws:sqs", body }),
    ],
  ])("finds %s, and inserts the body there", (_, given, expected) => {
    const found = findClaimCheck(typeof given === "string" ? given : JSON.stringify(given));

    expect(found?.check).toEqual(check);
    expect(found?.withBody("the body")).toBe(expected("the body"));
  });

  it.each<[string, unknown]>([
    ["a text that is no JSON", `${pointer} {`],
    ["a claim check in an object that is neither a notification nor a pipe's record", { body: text }],
    ["a claim check in the record of another source", { eventSource: "aws:kinesis", body: text }],
    ["a message that isn't a string", { TopicArn, Message: [text] }],
    ["a list that begins with another name", [`not ${pointer}`, place]],
    ["a list with more in it", [pointer, place, 1]],
    ["a bucket that isn't a string", [pointer, { ...place, s3BucketName: 7 }]],
    ["a key that isn't a string", [pointer, { ...place, s3Key: [check.key] }]],
    ["a key that goes on after its hash", [pointer, { ...place, s3Key: `${check.key}/copy` }]],
    ["a key without a hash", [pointer, { ...place, s3Key: "onceonly/report" }]],
  ])("leaves %s as it is", (_, given) => {
    expect(findClaimCheck(typeof given === "string" ? given : JSON.stringify(given))).toBeUndefined();
  });
});
