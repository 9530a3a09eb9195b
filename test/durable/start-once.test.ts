// A dispatcher that starts one durable execution per key, in front of a Lambda service that names executions as AWS's does.
import { Lambda } from "@aws-sdk/client-lambda";
import { callerFromJwt } from "onceonly";
import { type DurableStarter, type StartOnceOptions, startOnce } from "onceonly/durable";

import { beforeEach, describe, expect, it } from "vitest";
import { ENVELOPE_ATTRIBUTE } from "../../lib/contract.ts";
import { type FakeClock, fakeClock, fakeLambdaContext } from "../../lib/testing/index.ts";

interface Execution {
  readonly DurableExecutionArn: string;
  readonly DurableExecutionName: string;
  readonly InputPayload: string;
  Status: string;
  Result?: string;
}

/** Names are unique in an account and region, until the retention after an execution's end is over. */
class FakeLambda implements DurableStarter {
  readonly executions = new Map<string, Execution>();
  readonly asked: string[] = [];
  fails: (name: string) => void | Promise<void> = () => {};

  async invoke({
    FunctionName,
    DurableExecutionName,
    Payload,
    InvocationType,
  }: Parameters<DurableStarter["invoke"]>[0]) {
    this.asked.push("Invoke");
    if (!/^[a-zA-Z0-9-_]{1,64}$/.test(DurableExecutionName)) throw new Error("wrong name");
    if (InvocationType !== "Event" || !FunctionName.includes(":")) throw new Error("not so");
    await this.fails(DurableExecutionName);
    const known = this.executions.get(DurableExecutionName);
    if (known && known.InputPayload !== Payload) {
      throw Object.assign(new Error("exists"), { name: "DurableExecutionAlreadyStartedException" });
    }
    const arn = `arn:aws:lambda:eu-central-1:111122223333:function:${FunctionName}/durable-execution/${DurableExecutionName}/1`;
    const fresh = {
      DurableExecutionArn: arn,
      DurableExecutionName,
      InputPayload: Payload,
      Status: "RUNNING",
    };
    if (!known) this.executions.set(DurableExecutionName, fresh);
    return { DurableExecutionArn: arn };
  }

  async listDurableExecutionsByFunction({ DurableExecutionName, FunctionName, Marker }: never) {
    this.asked.push(`List ${FunctionName}`);
    const all = [...this.executions.values()];
    // The filter matches parts of names, and a page may be empty.
    const similar = { DurableExecutionName: `${DurableExecutionName}-2`, DurableExecutionArn: "another" };
    if (!Marker) return { DurableExecutions: [similar], NextMarker: "2" };
    return { DurableExecutions: all.filter((each) => each.DurableExecutionName === DurableExecutionName) };
  }

  async getDurableExecution({ DurableExecutionArn }: { readonly DurableExecutionArn: string }) {
    this.asked.push("Get");
    const found = [...this.executions.values()].find(
      (each) => each.DurableExecutionArn === DurableExecutionArn,
    );
    return found as Execution;
  }

  get payloads(): unknown[] {
    return [...this.executions.values()].map(({ InputPayload }) => JSON.parse(InputPayload));
  }
}

let clock: FakeClock;
let lambda: FakeLambda;
let errors: unknown[];
beforeEach(() => {
  clock = fakeClock();
  lambda = new FakeLambda();
  errors = [];
});

const dispatcher = (more: Partial<StartOnceOptions<never>> = {}) => {
  const handler = startOnce<never>({
    ...{ operation: "fulfil-order", client: lambda, functionName: "fulfil:live", clock },
    onRecordError: (error) => errors.push((error as Error).message),
    ...more,
  });
  return (event: unknown, remainingMs = 30_000) => handler(event, fakeLambdaContext({ clock, remainingMs }));
};

const queue = "arn:aws:sqs:eu-central-1:111122223333:orders";
let deliveries = 0;
const message = (id: string, body: unknown = { id }, group?: string) => ({
  ...{ messageId: `m${deliveries++}`, receiptHandle: "r", eventSource: "aws:sqs" },
  eventSourceARN: group ? `${queue}.fifo` : queue,
  body: JSON.stringify(body),
  attributes: group ? { MessageGroupId: group, MessageDeduplicationId: id } : {},
});
const byOrder = { key: ({ body }: never) => JSON.parse(body).id } as Partial<StartOnceOptions<never>>;

describe("queues", () => {
  it("starts 1,000 executions for 10,000 deliveries of 1,000 keys", async () => {
    const start = dispatcher(byOrder);
    const ids = Array.from({ length: 10_000 }, (_, index) => `o${(index * 7919) % 1000}`);

    for (let batch = 0; batch < ids.length; batch += 100) {
      const Records = ids.slice(batch, batch + 100).map((id) => message(id));
      expect(await start({ Records })).toEqual({ batchItemFailures: [] });
    }

    expect(lambda.asked).toHaveLength(10_000);
    expect(lambda.executions.size).toBe(1000);
    expect(new Set(lambda.payloads.map((payload) => (payload as { id: string }).id)).size).toBe(1000);
  });

  it("names executions by the envelope, the deduplication id or the message id", async () => {
    const start = dispatcher();
    const enveloped = (text: string) => ({
      ...message("o1", text),
      messageAttributes: {
        [ENVELOPE_ATTRIBUTE]: { dataType: "String", stringValue: JSON.stringify({ v: 1, key: "k1" }) },
      },
    });
    await start({ Records: [enveloped("a"), enveloped("a")] });
    const grouped = [message("o2", "b", "g"), message("o2", "b", "g")];
    await start({ Records: grouped });
    const once = message("o3", "c");
    await start({ Records: [once, once] });

    expect(lambda.payloads).toEqual(["a", "b", "c"]);
  });

  it("R1: R2: starts the executions of an array from a pipe or a custom event bus, with the payload that was sent", async () => {
    const start = dispatcher();
    const data = Buffer.from('{"id":"o1"}').toString("base64");
    const kinesis = { eventSource: "aws:kinesis", eventID: "shard:1", sequenceNumber: "1", data };
    const event = { id: "e1", source: "shop", "detail-type": "paid", time: "now", detail: { id: "o2" } };
    const described = { Data: { id: "o3" }, SystemMetadata: { "aws:EventId": "e2" } };

    for (const array of [[message("o0")], [kinesis], [event], [described], [described]]) {
      expect(await start(array)).toEqual({ batchItemFailures: [] });
    }

    expect(lambda.payloads).toEqual(["o0", "o1", "o2", "o3"].map((id) => ({ id })));
  });

  it("counts an execution as started whose payload has the same fields in another order", async () => {
    const start = dispatcher(byOrder);
    await start({ Records: [message("o1", { id: "o1", cents: 5 })] });
    await start({ Records: [message("o1", { cents: 5, id: "o1" })] });

    expect(lambda.asked).toEqual(["Invoke", "Invoke"]);
    expect(lambda.executions.size).toBe(1);
  });

  it("compares payloads by fingerprint if Lambda says that they differ, and returns the message of another request", async () => {
    const start = dispatcher({
      ...byOrder,
      fingerprint: (({ id, cents }: never) => ({ id, cents })) as never,
    });
    const order = (cents: number, at: number) => message("o1", { id: "o1", cents, at });
    await start({ Records: [order(5, 1)] });

    const other = order(6, 3);
    const answer = await start({ Records: [order(5, 2), other] });

    expect(answer).toEqual({ batchItemFailures: [{ itemIdentifier: other.messageId }] });
    expect(errors).toEqual([expect.stringContaining("different payload")]);
    expect(lambda.executions.size).toBe(1);
    expect(lambda.asked).toContain("List fulfil");
  });

  it("returns the message if the other execution can't be found any more", async () => {
    const start = dispatcher(byOrder);
    await start({ Records: [message("o1", { id: "o1", cents: 5 })] });
    lambda.listDurableExecutionsByFunction = async () => ({ DurableExecutions: [] });

    await expect(start({ Records: [message("o1", { id: "o1", cents: 6 })] })).rejects.toThrow();
    expect(errors).toEqual(["exists"]);
  });

  it("stops a FIFO group at its first failure, and starts the others", async () => {
    const start = dispatcher();
    const Records = ["a1", "b1", "a2", "b2", "a3"].map((id) => message(id, id, id[0]));
    lambda.fails = () => {
      if (lambda.asked.length === 3) throw new Error("throttled");
    };

    const answer = await start({ Records });

    const [, , third, , fifth] = Records;
    const expected = [third, fifth].map((record) => ({ itemIdentifier: record?.messageId }));
    expect(answer).toEqual({ batchItemFailures: expected });
    expect(lambda.payloads).toEqual(["a1", "b1", "b2"]);
  });

  it("throws if nothing was started, and returns the rest when there is no time left", async () => {
    lambda.fails = () => {
      throw new Error("throttled");
    };
    await expect(dispatcher()({ Records: [message("o1")] })).rejects.toMatchObject({
      code: "BATCH_NOT_DONE",
    });
    lambda.fails = () => clock.advance(29_000);
    const Records = [message("o2"), message("o3")];

    expect(await dispatcher({ concurrency: 1 })({ Records })).toEqual({
      batchItemFailures: [{ itemIdentifier: Records[1]?.messageId }],
    });
    const quiet = () => {
      throw new Error("an observer's own");
    };
    expect(
      await dispatcher({ ...byOrder, onRecordError: quiet, key: () => undefined })({ Records: [] }),
    ).toEqual({
      batchItemFailures: [],
    });
    await expect(
      dispatcher({ onRecordError: quiet, key: () => undefined })({ Records: [message("o4")] }),
    ).rejects.toMatchObject({ code: "BATCH_NOT_DONE" });
  });
});

describe("a function in the options that returns a promise", () => {
  const later = (value: unknown) => (async () => value) as never;

  it("R1: is refused by its name, and nothing is started for it", async () => {
    const start = (more: object) => dispatcher({ key: () => "o1", ...more })({ detail: {} });

    await expect(start({ payload: later({ id: 1 }) })).rejects.toThrow(
      "`payload` must return the input, not a promise",
    );
    await expect(start({ scope: later("tenant-1") })).rejects.toThrow("`scope` returned a promise");
    await expect(start({ key: later("o1") })).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_INVALID" });
    await expect(start({ key: () => undefined })).rejects.toThrow("`key` returned nothing for this event");
    expect(lambda.executions.size).toBe(0);
  });

  it("R1: an `onRecordError` that rejects changes nothing", async () => {
    const quiet = () => Promise.reject(new Error("an observer's own")) as never;

    await expect(
      dispatcher({ onRecordError: quiet, key: () => undefined })({ Records: [message("o4")] }),
    ).rejects.toMatchObject({ code: "BATCH_NOT_DONE" });
  });
});

describe("other sources", () => {
  it("starts what streams, Kafka, SNS, EventBridge and direct calls send, once", async () => {
    const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
    const dynamodb = { SequenceNumber: "1", Keys: { id: { S: "o1" } }, NewImage: { id: { S: "o1" } } };
    const events = [
      {
        Records: [
          {
            eventSource: "aws:kinesis",
            eventID: "e1",
            kinesis: { sequenceNumber: "1", data: base64({ a: 1 }) },
          },
        ],
      },
      { Records: [{ eventSource: "aws:dynamodb", eventID: "e2", eventName: "INSERT", dynamodb }] },
      { Records: [{ EventSource: "aws:sns", Sns: { MessageId: "n1", Message: '{"b":2}', Subject: null } }] },
      { Records: [{ EventSource: "aws:sns", Sns: { MessageId: "n2", Message: "plain", Subject: null } }] },
      { id: "b1", source: "shop", "detail-type": "ordered", detail: { c: 3 }, time: "now" },
    ];
    const start = dispatcher();
    for (const event of [...events, ...events]) await start(event);

    const { SequenceNumber: _, ...image } = dynamodb;
    expect(lambda.payloads).toEqual([
      { a: 1 },
      { eventName: "INSERT", ...image },
      { b: 2 },
      "plain",
      { c: 3 },
    ]);

    const direct = dispatcher({
      key: (({ id }: never) => id) as never,
      payload: (({ id }: never) => [id]) as never,
    });
    expect(await direct({ id: "d1", at: 1 })).toEqual(await direct({ id: "d1", at: 2 }));
    expect(lambda.payloads.at(-1)).toEqual(["d1"]);
    await expect(start({ id: "d1" })).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_MISSING" });

    const kafka = {
      topic: "orders",
      partition: 0,
      offset: 7,
      timestamp: 1,
      value: base64({ e: 5 }),
      headers: [],
    };
    const records = { eventSource: "aws:kafka", records: { "orders-0": [kafka] } };
    expect(await dispatcher()(records)).toEqual({ batchItemFailures: [] });
    expect(lambda.payloads.at(-1)).toEqual({ e: 5 });
  });

  it("refuses an envelope in a body unless its forwarder is trusted", async () => {
    const start = dispatcher({ trustedForwarders: ["arn:aws:sns:eu-central-1:111122223333:orders"] });

    await start({
      Records: [{ EventSource: "aws:sns", Sns: { MessageId: "n1", Message: "m", Subject: null } }],
    });
    expect(lambda.payloads).toEqual(["m"]);
  });
});

describe("HTTP", () => {
  const post = (key: string | undefined, body: unknown, more: object = {}) => ({
    version: "2.0",
    headers: key === undefined ? {} : { "idempotency-key": key },
    body: typeof body === "string" ? body : JSON.stringify(body),
    requestContext: {
      http: { method: "POST" },
      authorizer: { jwt: { claims: { sub: "ada" } } },
      ...more,
    },
  });
  const http = (more: Partial<StartOnceOptions<never>> = {}) => {
    const start = dispatcher({ scope: callerFromJwt() as never, ...more });
    return async (event: unknown) => {
      const response = (await start(event)) as {
        statusCode: number;
        headers: Record<string, string>;
        body: string;
      };
      return { ...response, body: JSON.parse(response.body) };
    };
  };

  it("answers 202 with the address, and the same to a retry", async () => {
    const request = http({ address: ({ name }) => `/executions/${name}` });

    const first = await request(post("k1", { id: "o1" }));
    const second = await request(post('"k1"', { id: "o1" }));

    expect(first).toMatchObject({ statusCode: 202, body: { status: "RUNNING" } });
    expect(first.headers.Location).toBe(`/executions/${first.body.execution}`);
    expect(first.body.execution).toMatch(/^fulfil-order-[\w-]{43}$/);
    expect(second).toEqual(first);
    expect(lambda.payloads).toEqual([{ id: "o1" }]);
  });

  it("separates callers, and answers problems with their status", async () => {
    const request = http();
    await request(post("k1", "plain text"));
    await request(post("k1", "plain text", { authorizer: { jwt: { claims: { sub: "bob" } } } }));

    expect(lambda.payloads).toEqual(["plain text", "plain text"]);
    const problems = [post(undefined, {}), post("k1", "another"), post("k2", {}, { authorizer: {} })];
    const answers = [];
    for (const problem of problems) {
      const { statusCode, body } = await request(problem);
      answers.push([statusCode, body.code]);
    }
    expect(answers).toEqual([
      [400, "IDEMPOTENCY_KEY_MISSING"],
      [422, "FINGERPRINT_MISMATCH"],
      [401, "SCOPE_MISSING"],
    ]);
    lambda.fails = () => {
      throw new Error("throttled");
    };
    await expect(request(post("k3", {}))).rejects.toThrow("throttled");
  });

  it("waits for the result as long as the option says", async () => {
    const request = http({ waitSeconds: 5 });
    const ends = (Status: string, Result?: string) => {
      for (const execution of lambda.executions.values()) Object.assign(execution, { Status, Result });
    };
    const waited = clock.run(request(post("k1", { id: "o1" })));
    await clock.advance(500);
    ends("SUCCEEDED", '{"shipped":true}');
    expect(await waited).toMatchObject({ statusCode: 200, body: { shipped: true } });

    ends("SUCCEEDED", undefined);
    expect(await clock.run(request(post("k1", { id: "o1" })))).toMatchObject({ statusCode: 200, body: null });
    ends("TIMED_OUT");
    expect(await clock.run(request(post("k1", { id: "o1" })))).toMatchObject({
      statusCode: 500,
      body: { status: "TIMED_OUT" },
    });
    ends("RUNNING");
    expect(await clock.run(request(post("k1", { id: "o1" })))).toMatchObject({ statusCode: 202 });
    lambda.invoke = async () => ({ DurableExecutionArn: undefined as never });
    expect(await clock.run(request(post("k1", { id: "o1" })))).toMatchObject({ statusCode: 202 });
    expect(await clock.run(request(post("k9", { id: "o9" })))).toMatchObject({ statusCode: 202 });
  });

  it("needs a scope, which must be the caller itself", async () => {
    await expect(dispatcher()(post("k1", {}))).rejects.toThrow("`scope` is required for HTTP requests");
    const wrong = dispatcher({ scope: (() => callerFromJwt()) as never });
    await expect(wrong(post("k1", {}))).rejects.toThrow("`scope` returned a function instead of the caller");
    expect(await dispatcher({ scope: "public" })(post("k1", {}))).toMatchObject({ statusCode: 202 });
    const v1 = { httpMethod: "POST", headers: { "Idempotency-Key": "k2" }, body: null, requestContext: {} };
    expect(await dispatcher({ scope: "public" })(v1)).toMatchObject({ statusCode: 202 });
  });
});

describe("options", () => {
  it.each([
    ["operation", "undefined-orders"],
    ["operation", ""],
    ["client", {}],
    ["functionName", undefined],
    ["functionName", "fulfil"],
    ["functionName", "111122223333:function:fulfil"],
    ["functionName", "arn:aws:lambda:eu-central-1:111122223333:function:fulfil"],
    ["scope", undefined],
    ["concurrency", 0],
    ["waitSeconds", -1],
    ["color", "red"],
  ])("refuses %s: %s", (name, value) => {
    expect(() => dispatcher({ [name]: value } as never)).toThrow(`\`${name}\``);
  });

  it.each([
    "fulfil:3",
    "arn:aws:lambda:eu-central-1:111122223333:function:fulfil:live",
    "fulfil:$LATEST",
    "111122223333:function:fulfil:live",
  ])("accepts the function %s", (functionName) => {
    expect(() => dispatcher({ functionName })).not.toThrow();
  });

  it("logs the error of a record if there is no observer of errors", async () => {
    const logged: unknown[][] = [];
    const { error } = console;
    console.error = (...given) => void logged.push(given);
    try {
      lambda.fails = () => {
        throw new Error("throttled");
      };
      const start = startOnce({ operation: "fulfil-order", client: lambda, functionName: "fulfil:live" });
      await start({ Records: [message("o1")] }, undefined as never).catch(() => {});
    } finally {
      console.error = error;
    }
    expect(logged).toEqual([
      [expect.stringContaining('"fulfil-order"'), expect.objectContaining({ message: "throttled" })],
    ]);
  });

  it("speaks to Lambda through the client of the SDK", async () => {
    const requests: { path: string; headers: Record<string, string>; body: string }[] = [];
    const client = new Lambda({
      region: "eu-central-1",
      credentials: { accessKeyId: "id", secretAccessKey: "secret" },
      requestHandler: {
        handle: async (request: never) => {
          requests.push(request);
          return { response: { statusCode: 202, headers: {}, body: new Uint8Array() } };
        },
      } as never,
    });

    await dispatcher({ client })({ Records: [message("o1")] });

    const [request] = requests;
    expect(request?.path).toContain("fulfil%3Alive");
    expect(request?.headers).toMatchObject({
      "x-amz-invocation-type": "Event",
      "x-amz-durable-execution-name": expect.stringMatching(/^fulfil-order-/),
    });
    expect(Buffer.from(request?.body ?? "").toString()).toBe('{"id":"o1"}');
  });
});
