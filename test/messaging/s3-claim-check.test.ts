// Bodies in a bucket, by the SDK's own client over HTTP.
import { createHash } from "node:crypto";
import { MessageProducer, S3ClaimCheck, type S3ClaimCheckOptions } from "onceonly/messaging";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { CUTS, startCuttingProxy } from "../kit/faults/cutting-proxy.ts";
import { newBucket } from "../kit/loopback-bucket.ts";
import { endOf } from "../kit/time/end-of.ts";

const queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/reports.fifo";
const LARGE = "größer\n".repeat(40_000);
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const pointer = (key: string, bucket = "bodies") =>
  JSON.stringify([
    "software.amazon.payloadoffloading.PayloadS3Pointer",
    { s3BucketName: bucket, s3Key: key },
  ]);
const message = (body: unknown, more: object = {}) => ({ queue, key: "report-7", group: "7", body, ...more });

async function newBodies(options: Partial<S3ClaimCheckOptions> = {}) {
  const bucket = await newBucket("bodies");
  return { ...bucket, bodies: new S3ClaimCheck({ bucket: "bodies", client: bucket.client, ...options }) };
}

describe("S3ClaimCheck.checkIn", () => {
  it("keeps a large body under its hash, and lets Amazon's extended clients read the pointer to it", async () => {
    const { bodies, objects } = await newBodies();

    const [checked] = await bodies.checkIn([message(LARGE, { attributes: { kind: "report" } })]);

    const key = `onceonly/${sha256(LARGE)}`;
    expect([...objects]).toEqual([[key, LARGE]]);
    expect(checked).toEqual({
      ...message(pointer(key)),
      attributes: { kind: "report", ExtendedPayloadSize: Buffer.byteLength(LARGE) },
    });
  });

  it("is the same at every try, writes one object for one body, and writes none needlessly", async () => {
    const { bodies, requests, objects } = await newBodies();
    const content = { pages: LARGE };
    const small = message("small");

    const first = await bodies.checkIn([message(content), small, message(JSON.stringify(content))]);
    const second = await bodies.checkIn([message({ ...content })]);

    expect(first[0]?.body).toBe(first[2]?.body);
    expect(second[0]).toEqual(first[0]);
    expect(first[1]).toBe(small);
    expect([objects.size, requests.length]).toEqual([1, 2]);
    expect(await bodies.checkIn([])).toEqual([]);
  });

  it("leaves room for 8 other attributes", async () => {
    const { bodies } = await newBodies();
    const attributes = Object.fromEntries([..."abcdefgh"].map((name) => [name, 1]));

    const [checked] = await bodies.checkIn([message(LARGE, { attributes })]);

    expect(checked).toMatchObject({ attributes: { ...attributes, ExtendedPayloadSize: expect.any(Number) } });
  });

  it("begins with `minBytes` of the body as a string in JSON", async () => {
    const { bodies, requests } = await newBodies({ minBytes: 100 });

    await bodies.checkIn([message("x".repeat(97)), message('"'.repeat(48))]);
    expect(requests).toEqual([]);
    await bodies.checkIn([message("x".repeat(98)), message('"'.repeat(49))]);
    expect(requests).toHaveLength(2);
  });

  it("fits each destination and an item by default, even if each character is escaped", async () => {
    const { bodies } = await newBodies();
    for (const body of ["x".repeat(199_997), '"'.repeat(99_998)]) {
      const [checked] = await bodies.checkIn([message(body)]);
      expect(checked?.body).toBe(body);
      expect(Buffer.byteLength(JSON.stringify(checked))).toBeLessThan(390_000);
    }
  });

  it("leaves events as they are, since rules match their detail, and leaves bodiless messages to be rejected", async () => {
    const { bodies, requests } = await newBodies();
    const event = { bus: "shop", source: "shop", detailType: "report", key: "7", body: { LARGE } };
    const none = message(undefined);

    const checked = await bodies.checkIn<object & { body: unknown }>([event, none]);

    expect(checked[0]).toBe(event);
    expect(checked[1]).toBe(none);
    expect(requests).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["no list", message(LARGE), "must be an array"],
    [
      "characters that SQS refuses",
      [message(`${LARGE}\0`)],
      "messages[0]: the body is empty or has characters",
    ],
    [
      "nine attributes",
      [message(LARGE, { attributes: Object.fromEntries([..."abcdefghi"].map((name) => [name, 1])) })],
      "messages[0]: has 9 attributes, but only 8 fit",
    ],
    [
      "the attribute of another library",
      [message(LARGE, { attributes: { ExtendedPayloadSize: 9 } })],
      "`ExtendedPayloadSize` is reserved",
    ],
  ])("refuses %s before it writes anything", async (_, messages, why) => {
    const { bodies, requests } = await newBodies();

    const refused = bodies.checkIn(messages as never);

    await expect(refused).rejects.toMatchObject({
      code: "PAYLOAD_INVALID",
      message: expect.stringContaining(why),
    });
    expect(requests).toEqual([]);
  });

  it("H38: fails if the bucket refuses, once all requests have ended, and reveals nothing of the body", async () => {
    const { bodies, refuse, requests } = await newBodies();
    refuse(403, "AccessDenied");
    const many = Array.from({ length: 30 }, (_, index) => message(`${index}${LARGE}`));

    const error = await bodies.checkIn(many).catch((caught) => caught);

    expect(error).toMatchObject({
      code: "BODY_UNAVAILABLE",
      retryable: true,
      cause: { name: "AccessDenied" },
    });
    expect(error.message).toBe(
      "the body of a message can't be stored in the bucket (AccessDenied): grant s3:PutObject",
    );
    expect(requests).toHaveLength(10);
  });

  it("a body larger than any message reaches a queue", async () => {
    const { bodies, objects } = await newBodies();
    const huge = { rows: "r".repeat(3_000_000) };
    const sent: { MessageBody: string; MessageAttributes: object }[] = [];
    const send = async ({ input }: { input: { Entries: typeof sent } }) => {
      sent.push(...input.Entries);
      return { Successful: [{ Id: "0" }] };
    };
    const producer = new MessageProducer({ sqs: { config: {}, send } });

    await expect(producer.send(message(huge))).rejects.toThrow("store it in a bucket");
    await producer.sendBatch(await bodies.checkIn([message(huge)]));

    expect(Object.keys(sent[0]!.MessageAttributes).sort()).toEqual([
      "ExtendedPayloadSize",
      "OnceonlyEnvelope",
    ]);
    expect(JSON.parse(await bodies.open(sent[0]!.MessageBody))).toEqual(huge);
    expect(objects.size).toBe(1);
  });
});

describe("S3ClaimCheck.open", () => {
  const open = async (text: string, options: Partial<S3ClaimCheckOptions> = {}) => {
    const { bodies, objects, requests } = await newBodies(options);
    objects.set(`onceonly/${sha256(LARGE)}`, LARGE);
    return { answer: await bodies.open(text).catch((error) => error), requests };
  };

  it("returns the checked-in body, also inside an SNS notification and a pipe's record", async () => {
    const text = pointer(`onceonly/${sha256(LARGE)}`);
    const notification = { Type: "Notification", TopicArn: "arn", Message: text, Subject: "x" };
    const piped = { eventSource: "aws:sqs", body: text, messageId: "1" };

    expect((await open(text)).answer).toBe(LARGE);
    expect(JSON.parse((await open(JSON.stringify(notification))).answer)).toEqual({
      ...notification,
      Message: LARGE,
    });
    expect(JSON.parse((await open(JSON.stringify(piped))).answer)).toEqual({ ...piped, body: LARGE });
  });

  it.each([
    "",
    "text",
    '{"orderId":7}',
    "software.amazon.payloadoffloading.PayloadS3Pointer",
    // The pointer of an extended client, which names objects by no hash.
    pointer("5f2b8d2e-6c8a-4bdb-9d2c-0c9b5b0f2a10"),
    JSON.stringify(["software.amazon.payloadoffloading.PayloadS3Pointer", { s3BucketName: "bodies" }]),
    JSON.stringify(["software.amazon.payloadoffloading.PayloadS3Pointer"]),
    JSON.stringify([...JSON.parse(pointer("a".repeat(64))), "more"]),
    // What a user wrote in a field, or forwarded, is his own.
    JSON.stringify({ comment: pointer("a".repeat(64)) }),
    JSON.stringify({ TopicArn: "arn", Message: { text: pointer("a".repeat(64)) } }),
    JSON.stringify({ eventSource: "aws:sqs", body: `<${pointer("a".repeat(64))}>` }),
  ])("leaves every other string unchanged: %s", async (text) => {
    expect(await open(text)).toEqual({ answer: text, requests: [] });
  });

  it.each([
    ["another bucket", pointer(`onceonly/${sha256(LARGE)}`, "payroll")],
    ["another prefix", pointer(`payroll/${sha256(LARGE)}`)],
    ["what begins with the prefix", pointer(`onceonly/../payroll/${sha256(LARGE)}`)],
    ["the root", pointer(sha256(LARGE))],
  ])("H74: a forged claim check of %s is not read", async (_, text) => {
    const { answer, requests } = await open(text);

    expect(answer).toMatchObject({
      code: "BODY_UNAVAILABLE",
      message: expect.stringContaining("so it isn't read"),
    });
    expect(requests).toEqual([]);
  });

  it("fails visibly if the body is gone, different, or empty", async () => {
    const key = `onceonly/${sha256("gone")}`;
    const { bodies, objects, refuse } = await newBodies();

    await expect(bodies.open(pointer(key))).rejects.toMatchObject({
      code: "BODY_UNAVAILABLE",
      message: expect.stringContaining("can't be read from the bucket (NoSuchKey)"),
    });
    for (const other of ["Gone", ""]) {
      objects.set(key, other);
      await expect(bodies.open(pointer(key))).rejects.toThrow("isn't the one that was stored");
    }
    objects.set(key, "gone");
    expect(await bodies.open(pointer(key))).toBe("gone");
    refuse(503, "SlowDown");
    await expect(bodies.open(pointer(key))).rejects.toMatchObject({ cause: { name: "SlowDown" } });
  });

  it("stops when aborted, and doesn't accept a response without a body", async () => {
    const { bodies } = await newBodies();
    const text = pointer(`onceonly/${sha256("x")}`);
    const mute = { putObject: async () => ({}), getObject: async () => ({}) };

    await expect(bodies.open(text, AbortSignal.abort())).rejects.toMatchObject({
      cause: { name: "AbortError" },
    });
    await expect(new S3ClaimCheck({ bucket: "bodies", client: mute }).open(text)).rejects.toThrow(
      "isn't the one that was stored",
    );
    const odd = { ...mute, getObject: () => Promise.reject("gone") };
    await expect(new S3ClaimCheck({ bucket: "bodies", client: odd }).open(text)).rejects.toThrow(
      "an unknown error",
    );
  });

  it("reads bodies that were checked in under its own prefix", async () => {
    const { bodies, objects } = await newBodies({ prefix: "acme/", minBytes: 1 });

    const [checked] = await bodies.checkIn([message("of acme")]);

    expect([...objects.keys()]).toEqual([`acme/${sha256("of acme")}`]);
    expect(await bodies.open(`${checked?.body}`)).toBe("of acme");
  });
});

describe("S3ClaimCheck, over a client without timeouts", () => {
  afterEach(() => void vi.useRealTimers());

  const pass = (isSilent: boolean) => isSilent && vi.advanceTimersByTimeAsync(30_000);

  it.each(CUTS)("H80: R2: each request ends when its connection is lost: %s", async (cut) => {
    const bucket = await newBucket("bodies");
    const proxy = await startCuttingProxy(bucket.port);
    onTestFinished(() => proxy.close());
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const text = pointer(`onceonly/${sha256(LARGE)}`);
    bucket.objects.set(`onceonly/${sha256(LARGE)}`, LARGE);
    const calls: [answer: unknown, call: (bodies: S3ClaimCheck) => Promise<unknown>][] = [
      [LARGE, (bodies) => bodies.open(text)],
      [text, async (bodies) => (await bodies.checkIn([message(LARGE)]))[0]?.body],
    ];

    for (const [answer, call] of calls) {
      for (let [nth, isHit] = [1, true]; isHit; nth++) {
        const bodies = new S3ClaimCheck({ bucket: "bodies", client: bucket.clientAt(proxy.port) });
        isHit = false;
        void proxy.cutAt(nth, cut).then(() => {
          isHit = true;
        });

        const end = await endOf(call(bodies), pass, () => isHit);

        expect([answer, "BODY_UNAVAILABLE"], `${cut} ${nth}`).toContain(end);
        if (!isHit) expect(end).toBe(answer);
        proxy.heal();
        expect(await endOf(call(bodies), pass), `${cut} ${nth}, again`).toBe(answer);
      }
    }
  });

  it("H80: R2: asks the client to end each request that takes too long", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const signals: (AbortSignal | undefined)[] = [];
    const hang = (_: unknown, { abortSignal }: { abortSignal?: AbortSignal } = {}) => {
      signals.push(abortSignal);
      return new Promise<never>(() => {});
    };
    const bodies = new S3ClaimCheck({ bucket: "bodies", client: { putObject: hang, getObject: hang } });

    const ends = Promise.allSettled([
      bodies.open(pointer(`onceonly/${sha256("x")}`)),
      bodies.checkIn([message(LARGE)]),
    ]);
    await vi.advanceTimersByTimeAsync(30_000);

    expect((await ends).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]);
  });

  it("H80: R2: a silent request ends with the signal of its caller", async () => {
    const bucket = await newBucket("bodies");
    const proxy = await startCuttingProxy(bucket.port);
    onTestFinished(() => proxy.close());
    const bodies = new S3ClaimCheck({ bucket: "bodies", client: bucket.clientAt(proxy.port) });
    const stop = new AbortController();
    void proxy.cutAt(1, "silence").then(() => stop.abort());

    await expect(bodies.open(pointer(`onceonly/${sha256("x")}`), stop.signal)).rejects.toMatchObject({
      code: "BODY_UNAVAILABLE",
      cause: { name: "AbortError" },
    });
  });
});

describe("S3ClaimCheck' options", () => {
  const client = { putObject: async () => ({}), getObject: async () => ({}) };

  it.each<[string, object]>([
    ["bucket", { bucket: process.env.NOT_SET_ANYWHERE }],
    ["bucket", { bucket: "undefined" }],
    ["bucket", { bucket: "s3://bodies" }],
    ["bucket", { bucket: "Bodies" }],
    ["client", { client: undefined }],
    ["client", { client: {} }],
    ["prefix", { prefix: 7 }],
    ["prefix", { prefix: "a b" }],
    ["prefix", { prefix: "x".repeat(901) }],
    ["minBytes", { minBytes: 0 }],
    ["minBytes", { minBytes: 1.5 }],
    ["minBytes", { minBytes: 1_000_001 }],
    ["expiration", { expiration: 7 }],
  ])("refuses a wrong %s", (option, wrong) => {
    const make = () => new S3ClaimCheck({ bucket: "bodies", client, ...wrong } as S3ClaimCheckOptions);
    expect(make).toThrow(`\`${option}\``);
  });

  it("works without any of the optional ones, or with `undefined`", () => {
    new S3ClaimCheck({
      bucket: "my.bodies-1",
      client,
      prefix: undefined as never,
      minBytes: undefined as never,
    });
    new S3ClaimCheck({ bucket: "bodies", client, prefix: "" });
  });
});
