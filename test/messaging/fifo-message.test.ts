import { describe, expect, it } from "vitest";
import {
  type FifoMessage,
  type FifoResend,
  prepareFifo,
  prepareResend,
} from "../../lib/messaging/fifo-message.ts";
import { deduplicationIdOf, SQS_MAX_BYTES, sqsEntry } from "../../lib/messaging/sqs-and-sns.ts";
import { checkBody, bytesOf as sizeAtSqs } from "../../packages/explorer/lib/aws/sqs/message-checks.ts";

const QUEUE = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo";
const MESSAGE = { key: "order-7", group: "7", body: "paid" };

const prepare = (changes: object) => () =>
  sqsEntry(prepareFifo("messages[3]", QUEUE, { ...MESSAGE, ...changes })).form;
const bytesOf = (changes: object) =>
  sqsEntry(prepareFifo("messages[3]", QUEUE, { ...MESSAGE, ...changes })).bytes;
const refusal = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    return error as Error & { code: string };
  }
  throw new Error("nothing was refused");
};

describe("prepareFifo", () => {
  it.each([
    ["text", "text"],
    ['{"as":"it is"}', '{"as":"it is"}'],
    ["line\n\tend \u{1F600}", "line\n\tend \u{1F600}"],
    [{ id: 7, none: undefined }, '{"id":7}'],
    [[1, null], "[1,null]"],
    [null, "null"],
    [false, "false"],
    [{ text: "\u0000\uFFFE\uFFFF" }, '{"text":"\\u0000\\ufffe\\uffff"}'],
  ])("sends the body %j as %j", (body, sent) => {
    const { MessageBody } = prepare({ body })();

    checkBody(MessageBody);
    expect(MessageBody).toBe(sent);
  });

  it.each([
    [undefined, "is missing"],
    [Number.NaN, "$ is NaN"],
    [{ at: new Date(0) }, "$.at is a Date"],
    [{ total: 1n }, "bigint"],
    ["", "is empty"],
    ["secret\u0000", "characters"],
    ["secret\uD800", "characters"],
  ])("refuses the body %s", (body, why) => {
    const error = refusal(prepare({ body }));

    expect(error.code).toBe("PAYLOAD_INVALID");
    expect(error.message).toMatch(/^messages\[3\]: (can't send )?the body/);
    expect(error.message).toContain(why);
    expect(error.message).not.toContain("secret");
  });

  it.each(["key", "group"])("refuses a %s that names nothing", (name) => {
    const values = [
      ...[undefined, null, "", Number.NaN, 7, {}, ["a"]],
      ...["undefined", "null", "NaN", "[object Object]", "order-[object Promise]"],
      ...["secret\u0000", "secret\uD800", "s".repeat(256)],
    ];

    for (const value of values) {
      const error = refusal(prepare({ [name]: value }));

      expect(error.code, String(value)).toBe("MESSAGE_ID_INVALID");
      expect(error.message).toMatch(new RegExp(`^messages\\[3\\]: the ${name} `));
      expect(error.message).not.toContain("secret");
    }
  });

  it.each(["undefined-behaviour", "nullable", "k".repeat(255), "schlüssel 7"])(
    "accepts %j as a key",
    (key) => {
      expect(prepare({ key, group: key })().MessageDeduplicationId).toMatch(/^[\w-]{43}$/);
    },
  );

  it("H32: says why a key must be given", () => {
    expect(prepare({ key: undefined })).toThrow(
      /pass the business key \(onceonly doesn't deduplicate by content, because two equal/,
    );
  });

  it.each(["deduplicationId", "MessageDeduplicationId", "messageGroupId", "id"])(
    "refuses %s, since a random id deduplicates nothing",
    (name) => {
      expect(refusal(prepare({ [name]: "a" }))).toMatchObject({
        code: "MESSAGE_ID_INVALID",
        message: expect.stringContaining(
          `\`${name}\` isn't accepted, because ids are derived from the key and the group`,
        ),
      });
    },
  );

  it.each([
    [{ ...MESSAGE, boddy: "secret" }, "`boddy` isn't a field of this message (did you mean `body`?)"],
    [{ ...MESSAGE, attempt: 1 }, "`attempt` isn't a field of this message"],
    [{ ...MESSAGE, paid: true }, "`paid` isn't a field of this message"],
    [{ ...MESSAGE, queue: QUEUE }, "`queue` isn't a field of this message"],
    [undefined, "must be an object"],
    ["secret", "must be an object"],
  ])("refuses a message that is not as it should be (%#)", (message, why) => {
    const error = refusal(() => prepareFifo("messages[3]", QUEUE, message as FifoMessage));

    expect(error.code).toBe("PAYLOAD_INVALID");
    expect(error.message).toContain(why);
    expect(error.message).not.toContain("secret");
  });

  it("counts bytes as SQS does, and accepts 1 MiB with the envelope but no byte more", () => {
    const empty = bytesOf({ body: "b", key: "schlüssel" }) - 1;
    const full = prepare({ body: "b".repeat(SQS_MAX_BYTES - empty), key: "schlüssel" })();

    expect(sizeAtSqs(full.MessageBody, full.MessageAttributes)).toBe(SQS_MAX_BYTES);
    expect(refusal(prepare({ body: "b".repeat(SQS_MAX_BYTES - empty + 1), key: "schlüssel" }))).toMatchObject(
      {
        code: "PAYLOAD_INVALID",
        message: `messages[3]: body and envelope are ${SQS_MAX_BYTES + 1} bytes, but SQS accepts only ${SQS_MAX_BYTES}: store it in a bucket with S3ClaimCheck, or send a link to it`,
      },
    );
  });

  it("adds little to a message", () => {
    expect(bytesOf({}) - MESSAGE.body.length).toBeLessThan(50);
  });
});

describe("prepareResend", () => {
  it("changes the deduplication id and nothing else", () => {
    const { MessageDeduplicationId: first, ...message } = prepare({})();
    const resend = prepareResend("a", QUEUE, { ...MESSAGE, attempt: 1 });
    const { MessageDeduplicationId: second, ...again } = sqsEntry(resend, ({ group, key }) =>
      deduplicationIdOf(group, key, 1),
    ).form;

    expect(second).not.toBe(first);
    expect(again).toEqual(message);
  });

  it.each([undefined, 0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "1", 2 ** 53])(
    "refuses the attempt %s",
    (attempt) => {
      const work = () => prepareResend("the message", QUEUE, { ...MESSAGE, attempt } as FifoResend);

      expect(refusal(work)).toMatchObject({
        code: "MESSAGE_ID_INVALID",
        message: expect.stringMatching(/^the message: the attempt must be a whole number of at least 1/),
      });
    },
  );
});
