import { idempotentBatch } from "onceonly";
import { describe, expect, it } from "vitest";
import type { VisibilityRequest } from "../../../lib/lambda/batch/batch-options.ts";
import { answered, fifoRecord, givenBatch, returned, sqsRecord } from "./given.ts";

const records = (count: number) => Array.from({ length: count }, (_, index) => sqsRecord(`m${index + 1}`));

describe("idempotentBatch", () => {
  it("H24: hides a message in progress elsewhere for the rest of its lease", async () => {
    const { options, context, clock, errors } = givenBatch();
    const requests: VisibilityRequest[] = [];
    const changeVisibility = async (request: VisibilityRequest) => void requests.push(request);
    const slow = idempotentBatch(() => new Promise(() => {}), options);
    void slow({ Records: records(1) }, context(30_000));
    await clock.advance(10_000);

    const handler = idempotentBatch(() => {}, { ...options, changeVisibility });
    const answer = await handler({ Records: records(2) }, context());

    expect(returned(answer)).toEqual(["m1"]);
    expect(errors).toEqual([]);
    // 30 seconds of the invocation, 5 for the clocks, less the 10 that passed; and the second in which it ends.
    expect(requests).toEqual([
      {
        QueueUrl: "https://sqs.eu-central-1.amazonaws.com/123456789012/payments",
        Entries: [{ Id: "0", ReceiptHandle: "receipt of m1", VisibilityTimeout: 26 }],
      },
    ]);
  });

  it("H25: hides the rest of a FIFO group together with a head that is in progress elsewhere", async () => {
    const { options, context, clock } = givenBatch();
    const requests: VisibilityRequest[] = [];
    const changeVisibility = async (request: VisibilityRequest) => void requests.push(request);
    const slow = idempotentBatch(() => new Promise(() => {}), options);
    void slow({ Records: [fifoRecord("a1", "a")] }, context(30_000));
    await clock.advance(0);

    const handler = idempotentBatch(() => {}, { ...options, changeVisibility });
    const Records = [
      fifoRecord("a1", "a"),
      fifoRecord("b1", "b"),
      fifoRecord("a2", "a"),
      fifoRecord("b2", "b"),
    ];

    expect(returned(await answered(handler({ Records }, context())))).toEqual(["a1", "a2"]);
    expect(requests.flatMap(({ Entries }) => Entries.map((entry) => entry.ReceiptHandle))).toEqual([
      "receipt of a1",
      "receipt of a2",
    ]);
    expect(
      new Set(requests.flatMap(({ Entries }) => Entries.map((entry) => entry.VisibilityTimeout))),
    ).toEqual(new Set([36]));
  });

  it("builds the queue's URL for China too, and sends no request to a queue that it can't name", async () => {
    const { options, context, clock, errors } = givenBatch();
    const urls: string[] = [];
    const changeVisibility = async ({ QueueUrl }: VisibilityRequest) => void urls.push(QueueUrl);
    void idempotentBatch(() => new Promise(() => {}), options)({ Records: records(1) }, context());
    await clock.advance(0);
    const handler = idempotentBatch(() => {}, { ...options, whenInProgress: "reject", changeVisibility });
    for (const eventSourceARN of ["arn:aws-cn:sqs:cn-north-1:123456789012:payments", "payments"]) {
      const Records = records(1).map((record) => ({ ...record, eventSourceARN }));
      expect(returned(await answered(handler({ Records }, context())))).toEqual(["m1"]);
    }
    expect(errors).toEqual([]);
    expect(urls).toEqual(["https://sqs.cn-north-1.amazonaws.com.cn/123456789012/payments"]);
  });

  it("F4: asks for less than the 12 hours that SQS allows, after the longest invocation", async () => {
    const { options, context, clock } = givenBatch();
    const asked: (number | undefined)[] = [];
    const leaseSeconds = 86_400;
    const slow = idempotentBatch(() => new Promise(() => {}), { ...options, leaseSeconds });
    void slow({ Records: records(1) }, context());
    await clock.advance(0);

    await answered(
      idempotentBatch(() => {}, {
        ...options,
        changeVisibility: async ({ Entries }) => void asked.push(Entries[0]?.VisibilityTimeout),
      })({ Records: records(1) }, context()),
    );

    expect(asked).toEqual([37_500]);
  });

  it("reports when SQS answers that it could not hide all of them", async () => {
    const { options, context, clock, errors } = givenBatch();
    void idempotentBatch(() => new Promise(() => {}), options)({ Records: records(1) }, context());
    await clock.advance(0);
    const answers: unknown[] = [
      { Successful: [], Failed: [{ Id: "0", Code: "ReceiptHandleIsInvalid", SenderFault: true }] },
      { Successful: [{ Id: "0" }], Failed: [] },
      undefined,
    ];

    for (const answer of answers) {
      const handler = idempotentBatch(() => {}, { ...options, changeVisibility: async () => answer });
      expect(returned(await answered(handler({ Records: records(1) }, context())))).toEqual(["m1"]);
    }

    expect(errors.map(String)).toEqual([
      "Error: 1 messages could not be hidden (ReceiptHandleIsInvalid): SQS will deliver them sooner, which counts towards maxReceiveCount",
    ]);
  });

  it("reports when hiding failed, and returns the record all the same", async () => {
    const { options, context, clock, errors } = givenBatch();
    void idempotentBatch(() => new Promise(() => {}), options)({ Records: records(1) }, context());
    await clock.advance(0);
    const changeVisibility = () => Promise.reject(new Error("denied"));

    const answer = await answered(
      idempotentBatch(() => {}, { ...options, changeVisibility })({ Records: records(1) }, context()),
    );

    expect(returned(answer)).toEqual(["m1"]);
    expect(errors).toEqual([new Error("denied")]);
  });

  it("waits for a record in progress elsewhere if configured, and replays", async () => {
    const { options, context, clock } = givenBatch();
    void idempotentBatch(() => clock.sleep(2000), options)({ Records: records(1) }, context());
    await clock.advance(0);

    const handler = idempotentBatch(() => {}, { ...options, whenInProgress: { waitSeconds: 5 } });

    expect(returned(await answered(clock.run(handler({ Records: records(1) }, context()))))).toEqual([]);
  });
});
