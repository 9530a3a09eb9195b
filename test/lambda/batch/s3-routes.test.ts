// One change of an S3 object, as each route delivers it. Shapes:
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/notification-content-structure.html and ev-events.html
import type { S3Event, SNSEvent, SQSRecord } from "aws-lambda";
import { idempotent, idempotentBatch, keyFromS3, readS3Change } from "onceonly";
import { describe, expect, it } from "vitest";
import { given } from "../given.ts";
import { answered, givenBatch, returned, sqsRecord } from "./given.ts";

const TOPIC = "arn:aws:sns:eu-central-1:123456789012:uploads";

interface Change {
  /** As the user named the object. */
  readonly key?: string;
  readonly sequencer?: string;
  readonly eTag?: string;
  readonly versionId?: string;
  readonly at?: string;
  readonly deleted?: boolean;
}

/** A record of S3, with the key encoded as S3 encodes it. */
function s3Record({ key = "a.png", sequencer = "0055AED6DCD90281E5", ...more }: Change = {}) {
  const {
    eTag = "b1946ac92492d2347c6235b4d2611184",
    versionId,
    at = "2026-11-28T08:00:00.000Z",
    deleted,
  } = more;
  const content = deleted ? {} : { size: 5, eTag };
  return {
    eventVersion: "2.1",
    eventSource: "aws:s3",
    awsRegion: "eu-central-1",
    eventTime: at,
    eventName: deleted ? "ObjectRemoved:Delete" : "ObjectCreated:Put",
    userIdentity: { principalId: "AWS:AIDAEXAMPLE" },
    requestParameters: { sourceIPAddress: "192.0.2.1" },
    responseElements: { "x-amz-request-id": `request at ${at}`, "x-amz-id-2": "host" },
    s3: {
      s3SchemaVersion: "1.0",
      configurationId: "uploads",
      bucket: { name: "uploads", ownerIdentity: { principalId: "A1" }, arn: "arn:aws:s3:::uploads" },
      object: {
        key: encodeURIComponent(key).replaceAll("%20", "+").replaceAll("%2F", "/"),
        ...content,
        ...(versionId && { versionId }),
        sequencer,
      },
    },
  };
}

/** EventBridge's event of the same change: the key is not encoded, and a deletion has an eTag. */
function busEvent({ key = "a.png", sequencer = "0055AED6DCD90281E5", ...more }: Change = {}, id = "e1") {
  const { eTag = "b1946ac92492d2347c6235b4d2611184", versionId, deleted } = more;
  return {
    version: "0",
    id,
    "detail-type": deleted ? "Object Deleted" : "Object Created",
    source: "aws.s3",
    account: "123456789012",
    time: `time of ${id}`,
    region: "eu-central-1",
    resources: ["arn:aws:s3:::uploads"],
    detail: {
      version: "0",
      bucket: { name: "uploads" },
      object: {
        key,
        etag: eTag,
        ...(deleted ? {} : { size: 5 }),
        ...(versionId && { "version-id": versionId }),
        sequencer: sequencer.toLowerCase(),
      },
      "request-id": "N4N7GDK58NMKJ12R",
      requester: "123456789012",
      "source-ip-address": "192.0.2.1",
      ...(deleted
        ? { reason: "DeleteObject", "deletion-type": "Permanently Deleted" }
        : { reason: "PutObject" }),
    },
  };
}

const direct = (...changes: Change[]) => ({ Records: changes.map(s3Record) }) as unknown as S3Event;
const snsEvent = (message: object) =>
  ({
    Records: [
      {
        EventSource: "aws:sns",
        EventVersion: "1.0",
        EventSubscriptionArn: `${TOPIC}:1`,
        Sns: {
          Type: "Notification",
          MessageId: "n1",
          TopicArn: TOPIC,
          Message: JSON.stringify(message),
          MessageAttributes: {},
        },
      },
    ],
  }) as unknown as SNSEvent;
const notification = (message: object) =>
  JSON.stringify({
    Type: "Notification",
    MessageId: "n2",
    TopicArn: TOPIC,
    Message: JSON.stringify(message),
  });
const inQueue = (content: object, id = "m1") => sqsRecord(id, JSON.stringify(content));
const viaTopic = (content: object, id = "m1") => sqsRecord(id, notification(content));

const ROUTES: readonly (readonly [route: string, (change?: Change) => unknown])[] = [
  ["S3", (change = {}) => direct(change)],
  ["SNS", (change = {}) => snsEvent(direct(change))],
  ["SQS", (change = {}) => inQueue(direct(change))],
  ["SNS and SQS", (change = {}) => viaTopic(direct(change))],
  ["EventBridge", (change) => busEvent(change)],
  ["EventBridge and SQS", (change) => inQueue(busEvent(change))],
  ["EventBridge, SNS and SQS", (change) => viaTopic(busEvent(change))],
];

const TEST_MESSAGE = {
  Service: "Amazon S3",
  Event: "s3:TestEvent",
  Time: "2026-11-27T12:00:00.000Z",
  Bucket: "uploads",
  RequestId: "5582815E1AEA5ADF",
  HostId: "8cLeGAmw098X5cv4Zkwcmo8vvZa3eH3eKxsPzbB9wrR",
};

/** A batch handler that notes the objects' keys, and fails for those in `failing`. */
function givenUploads() {
  const { options, context, errors } = givenBatch();
  const ran: string[] = [];
  const failing = new Set<string>();
  const handler = idempotentBatch(
    (record: unknown) => {
      const { key } = readS3Change(record);
      ran.push(key);
      if (failing.has(key)) throw new Error(`no ${key}`);
    },
    { ...options, key: keyFromS3() },
  );
  const deliver = async (...Records: readonly unknown[]) =>
    returned(await answered(handler({ Records }, context())));
  return { options, handler, deliver, ran, failing, errors, context };
}

describe("keyFromS3 on every route", () => {
  const key = keyFromS3();

  it.each(ROUTES)("R4: recognizes the same change that arrives through %s", (_, route) => {
    for (const change of [{}, { versionId: "v1" }, { deleted: true }, { deleted: true, versionId: "v1" }]) {
      expect(key(route(change))).toBe(key(direct(change)));
      expect(key.contentOf(route(change))).toEqual(key.contentOf(direct(change)));
    }
  });

  it.each(ROUTES)("R4: distinguishes changes that arrive through %s", (_, route) => {
    const changes: Change[] = [
      {},
      { key: "b.png" },
      { sequencer: "0055AED6DCD90281E6" },
      { versionId: "v1" },
      { versionId: "v2" },
      { eTag: "d41d8cd98f00b204e9800998ecf8427e" },
      { deleted: true },
    ];

    expect(new Set(changes.map((change) => key(route(change)))).size).toBe(changes.length);
  });

  it.each(["a b+c.png", "100%.png", "ünïcode/日本.png", "a%2Bb.png", "a&b=c?.png"])(
    "R4: reads the object's own key, whether the route encodes it or not: %s",
    (name) => {
      for (const [, route] of ROUTES) expect(readS3Change(route({ key: name })).key).toBe(name);
      expect(new Set(ROUTES.map(([, route]) => key(route({ key: name })))).size).toBe(1);
    },
  );

  it("R4: refuses a key that S3 can't have encoded, and what isn't from S3", () => {
    const broken = direct({});
    broken.Records[0]!.s3.object.key = "100%.png";

    expect(() => key(broken)).toThrow("isn't URL-encoded");
    for (const other of [
      undefined,
      null,
      {},
      { body: "{" },
      { body: "7" },
      { Records: [] },
      { Records: [{}] },
    ])
      expect(() => key(other)).toThrow("isn't an S3 notification");
    expect(() => key({ Records: [{ s3: { bucket: {}, object: { key: "a" } }, eventName: "x" }] })).toThrow(
      "lacks its bucket's name",
    );
    expect(() => key(inQueue(TEST_MESSAGE))).toThrow("S3's test message");
    let deep: object = direct({});
    for (let level = 0; level < 20; level++) deep = { Records: [deep] };
    expect(() => key(deep)).toThrow("isn't an S3 notification");
  });

  it.each([
    [{ reason: "CopyObject" }, "Object Created", "ObjectCreated:Copy"],
    [{ reason: "CompleteMultipartUpload" }, "Object Created", "ObjectCreated:CompleteMultipartUpload"],
    [{ reason: "POST Object" }, "Object Created", "ObjectCreated:Post"],
    [
      { reason: "DeleteObject", "deletion-type": "Delete Marker Created" },
      "Object Deleted",
      "ObjectRemoved:DeleteMarkerCreated",
    ],
    [
      { reason: "Lifecycle Expiration", "deletion-type": "Permanently Deleted" },
      "Object Deleted",
      "LifecycleExpiration:Delete",
    ],
    [{}, "Object Tags Added", "Object Tags Added"],
  ])("R4: names the event of EventBridge as S3 names it: %j", (more, type, eventName) => {
    const event = busEvent();
    const sent = { ...event, "detail-type": type, detail: { ...event.detail, reason: undefined, ...more } };

    expect(readS3Change(sent)).toMatchObject({ bucket: "uploads", key: "a.png", eventName });
  });

  it("R4: drops the prefix of S3-compatible stores, and a version that is null", () => {
    const event = direct({});
    Object.assign(event.Records[0]!, { eventName: "s3:ObjectCreated:Put" });
    Object.assign(event.Records[0]!.s3.object, { versionId: null });

    expect(key(event)).toBe(key(direct({})));
  });

  it("R4: gives no key to an event without a sequencer", async () => {
    const { options, context } = given();
    const event = busEvent();
    const tagged = {
      ...event,
      detail: { ...event.detail, object: { ...event.detail.object, sequencer: undefined } },
    };

    await expect(idempotent(() => 1, { ...options, key })(tagged, context())).rejects.toMatchObject({
      code: "IDEMPOTENCY_KEY_MISSING",
    });
  });

  it("R4: replays a second notification of one change without a `fingerprint`", async () => {
    const { options, context } = given();
    let runs = 0;
    const handler = idempotent((_: unknown) => ++runs, { ...options, key: keyFromS3() });

    for (const event of [
      direct({}),
      direct({ at: "later" }),
      busEvent(),
      busEvent({}, "e2"),
      snsEvent(direct({})),
    ])
      expect(await handler(event, context())).toBe(1);
  });
});

describe("idempotentBatch with keyFromS3", () => {
  const two = direct({ key: "a" }, { key: "b" });

  it.each([
    ["SQS", (content: object) => inQueue(content)],
    ["SNS and SQS", (content: object) => viaTopic(content)],
  ])(
    "R4: runs each record of a message through %s, and returns the message if one fails",
    async (_, message) => {
      const { deliver, ran, failing } = givenUploads();
      failing.add("a");

      expect(await deliver(message(two), inQueue(direct({ key: "c" }), "m2"))).toEqual(["m1"]);
      expect(ran.toSorted()).toEqual(["a", "b", "c"]);

      failing.clear();
      expect(await deliver(message(two))).toEqual([]);
      expect(ran.toSorted()).toEqual(["a", "a", "b", "c"]);
    },
  );

  it("R4: returns a message whose records all fail once, and throws if no message is done", async () => {
    const { handler, failing, context } = givenUploads();
    for (const key of ["a", "b"]) failing.add(key);
    const done = inQueue(direct({ key: "c" }), "m2");

    expect(await handler({ Records: [inQueue(two), done] }, context())).toEqual({
      batchItemFailures: [{ itemIdentifier: "m1" }],
    });
    await expect(handler({ Records: [inQueue(two)] }, context())).rejects.toThrow("0 of 1 records succeeded");
  });

  it("R4: gives the handler the message with only its own record", async () => {
    const { options, context } = givenBatch();
    const bodies: unknown[] = [];
    const handler = idempotentBatch((record: SQSRecord) => void bodies.push(JSON.parse(record.body)), {
      ...options,
      key: keyFromS3(),
    });
    await handler({ Records: [inQueue(two)] }, context());

    expect(bodies).toEqual(two.Records.map((record) => ({ Records: [record] })));
  });

  it("R4: a malformed message fails alone, and the test message runs nothing", async () => {
    const { deliver, ran, errors } = givenUploads();
    const bad = direct({ key: "bad" }, { key: "good" });
    bad.Records[0]!.s3.object.key = "100%";
    const deep = sqsRecord("m2", `${'{"Records":['.repeat(5000)}${"]}".repeat(5000)}`);
    const failed = await deliver(
      inQueue(bad),
      deep,
      sqsRecord("m3", "not JSON"),
      inQueue(TEST_MESSAGE, "m4"),
      viaTopic(TEST_MESSAGE, "m5"),
      inQueue(direct({ key: "c" }), "m6"),
    );

    expect(failed).toEqual(["m1", "m2", "m3"]);
    expect(ran).toEqual(["good", "c"]);
    expect(errors.map((error) => (error as { code: string }).code)).toEqual(Array(3).fill("PAYLOAD_INVALID"));
  });

  it.each([
    ["SNS", () => snsEvent(two)],
    ["S3", () => two],
  ])(
    "R4: runs each record of an event from %s, and throws if one fails, whatever the mapping's option says",
    async (_, event) => {
      const { options, context } = givenBatch({ reportBatchItemFailures: true });
      const ran: string[] = [];
      let fails = true;
      const handler = idempotentBatch(
        (record: object) => {
          const { key } = readS3Change(record);
          ran.push(key);
          if (fails && key === "b") throw new Error("no");
        },
        { ...options, key: keyFromS3() },
      );

      await expect(handler(event() as never, context())).rejects.toMatchObject({ code: "BATCH_NOT_DONE" });
      fails = false;
      await handler(event() as never, context());

      expect(ran).toEqual(["a", "b", "b"]);
      expect(await handler(snsEvent(TEST_MESSAGE), context())).toEqual({ batchItemFailures: [] });
    },
  );
});
