// What copies of the package hand each other beside stores: executions, errors, fingerprints, outboxes, adapters, models.
import { DynamoDBClient, GetItemCommand } from "@aws-sdk/client-dynamodb";
import { SQSClient, type SQSClientConfig } from "@aws-sdk/client-sqs";
import middy from "@middy/core";
import type { Execution } from "onceonly";
import type { MemoryStore } from "onceonly/testing";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { ENVELOPE_ATTRIBUTE } from "../../lib/contract.ts";
import { messageText } from "../../lib/core/messages/message-text.ts";
import { envelopeContent } from "../../lib/core/messages/prepare-message.ts";
import { memorySubject } from "../kit/memory-subject.ts";
import { hasServer as hasPostgres, poolOf, portOf, storeOf } from "../postgres/given.ts";
import { keyService } from "../stores/privacy-given.ts";
import { hasServer as hasValkey, portOf as portOfValkey, redisOf } from "../valkey/given.ts";
import { type Copy, KINDS, type Kind, loadCopies } from "./given.ts";

let copies: Readonly<Record<Kind, Copy>>;
beforeAll(async () => {
  copies = await loadCopies();
}, 300_000);

const PAIRS = KINDS.flatMap((one) =>
  KINDS.filter((other) => other !== one).map((other) => [one, other] as const),
);

type Sweep = (event: object, context: object) => Promise<unknown>;

/** The SDK's client, whose requests end in a list. */
function sqsInto(sent: string[]): SQSClient {
  const requestHandler = {
    metadata: { handlerProtocol: "http/1.1" },
    async handle({ body }: { body: Uint8Array | string }) {
      const text = Buffer.from(body as string).toString();
      sent.push(text);
      const { Entries = [] } = JSON.parse(text) as { Entries?: { Id: string }[] };
      const Successful = Entries.map(({ Id }) => ({ Id, MessageId: Id }));
      const answer = new Blob([JSON.stringify({ Successful, Failed: [], MessageId: "m" })]);
      const headers = { "content-type": "application/x-amz-json-1.0" };
      return { response: { statusCode: 200, headers, body: answer.stream() } };
    },
  };
  const credentials = { accessKeyId: "a", secretAccessKey: "b" };
  const config = { region: "us-east-1", credentials, requestHandler, md5: false };
  return new SQSClient(config as unknown as SQSClientConfig);
}

describe.each(PAIRS)("H86: A6: the %s next to the %s", (one, other) => {
  const A = () => copies[one];
  const B = () => copies[other];
  const options = (store: unknown) => ({ operation: "charge", store: store as never, leaseSeconds: 30 });
  const memory = () => new (A().testing.MemoryStore)() as MemoryStore;

  it("notices an operation that starts inside itself through the other copy", async () => {
    const store = memory();
    const nested = A().main.idempotent(
      async (_event, context) => {
        const inner = B().main.idempotent(async () => "never", { ...options(store), key: () => "k1" });
        return inner({}, context);
      },
      { ...options(store), key: () => "k1" },
    );

    await expect(
      nested({}, A().testing.fakeLambdaContext({ clock: { now: Date.now } })),
    ).rejects.toMatchObject({
      code: "NESTED_EXECUTION",
    });
  });

  it("reads keys, callers and the time of a commit by the other copy's readers", async () => {
    const committedAt = Date.now() - 2 * 86_400_000;
    const id = "message 1";
    const envelope = messageText(envelopeContent({ key: "k1", committedAt }));
    const sns = { MessageId: id, Message: "{}" };
    const aged = { ...sns, MessageAttributes: { [ENVELOPE_ATTRIBUTE]: { Value: envelope } } };
    const s3 = { bucket: { name: "b" }, object: { key: "k", sequencer: "1" } };
    const http = {
      requestContext: { authorizer: { jwt: { claims: { sub: "ana" } }, lambda: { tenant: "acme" } } },
    };
    const { keyFromSns, keyFromS3, keyFromEventBridge } = A().main;
    const { callerFromJwt, callerFromAuthorizer } = A().main;
    const rows: Record<string, readonly [options: object, event: unknown, aged?: unknown]> = {
      keyFromSns: [{ key: keyFromSns() }, { Records: [{ Sns: sns }] }, { Records: [{ Sns: aged }] }],
      keyFromEventBridge: [
        { key: keyFromEventBridge() },
        { id, source: "shop", "detail-type": "paid", detail: {} },
      ],
      keyFromS3: [{ key: keyFromS3() }, { Records: [{ eventName: "put", s3 }] }],
      callerFromJwt: [{ key: () => "k1", scope: callerFromJwt() }, http],
      callerFromAuthorizer: [{ key: () => "k1", scope: callerFromAuthorizer("tenant") }, http],
    };
    for (const [name, [given, event, old]] of Object.entries(rows)) {
      let runs = 0;
      const handler = B().main.idempotent<unknown, unknown, never>(async () => ++runs, {
        ...options(memory()),
        fingerprint: () => "same",
        retentionSeconds: 86_400,
        ...given,
      } as never);
      const call = (each: unknown) =>
        handler(each, A().testing.fakeLambdaContext({ clock: { now: Date.now } }));

      expect([await call(event), await call(event)], name).toEqual([1, 1]);
      if (old) await expect(call(old), name).rejects.toMatchObject({ code: "IDEMPOTENCY_KEY_INVALID" });
    }
  });

  it("logs once that two handlers run one operation on one store", async () => {
    const store = memory();
    const warned = vi.spyOn(console, "warn").mockImplementation(() => {});
    for (const { main } of [A(), B(), A()]) {
      const handler = main.idempotent(async () => "done", { ...options(store), key: () => "k1" });
      await handler({}, A().testing.fakeLambdaContext({ clock: { now: Date.now } }));
    }
    const texts = warned.mock.calls.map(([text]) => String(text));
    warned.mockRestore();

    expect(texts.filter((text) => text.includes('two wrappers use the operation "charge"'))).toHaveLength(1);
  });

  it("notifies both middlewares of one Middy stack when the handler begins and ends", async () => {
    const store = memory();
    const outer = A().main.idempotency<unknown, never>({
      ...options(store),
      operation: "outer",
      key: () => "k1",
    });
    const inner = B().main.idempotency<unknown, never>({
      ...options(store),
      operation: "inner",
      key: () => "k1",
    });
    let runs = 0;
    const reporting = outer.handler(inner.handler(async () => ({ runs: ++runs })) as never);
    interface Stack {
      (event: object, context: object): Promise<unknown>;
      use(middleware: unknown): Stack;
    }
    const stack = middy as unknown as (handler: unknown) => Stack;
    const handler = stack(reporting).use(outer).use(inner);
    const call = () => handler({}, A().testing.fakeLambdaContext({ clock: { now: Date.now } }));

    expect([await call(), await call()]).toEqual([{ runs: 1 }, { runs: 1 }]);
    expect([...store.records.values()].map(({ state }) => state)).toEqual(["completed", "completed"]);
  });

  it("records a PermanentError of the other copy, and holds its OutcomeUnknownError", async () => {
    const store = memory();
    const failing = () =>
      A().main.runOnce(options(store), "k1", "in", () => {
        throw new (B().main.PermanentError)("no such card");
      });
    const unknown = () =>
      A().main.runOnce({ ...options(store), whenAbandoned: "hold" }, "k2", "in", () => {
        throw new (B().main.OutcomeUnknownError)();
      });

    await expect(failing()).rejects.toThrow("no such card");
    await expect(failing()).rejects.toMatchObject({ code: "PERMANENT" });
    await expect(unknown()).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect([...store.records.values()].map(({ state }) => state)).toEqual(["failed", "held"]);
    const settled = B().reconciler.resolveOutcome({ operation: "charge", store: store as never }, "k2", {
      outcome: "happened",
      result: 7,
      by: "ops",
      why: "seen at the provider",
    });
    expect(await settled).toBeDefined();
  });

  it("knows the other copy's errors", () => {
    const { CommitInvalidError } = A().main;
    const error = new CommitInvalidError("x");

    expect([B().main.isOnceonlyError(error), error instanceof B().main.CommitInvalidError]).toEqual([
      true,
      false,
    ]);
  });

  const request = {
    version: "2.0",
    rawPath: "/orders",
    rawQueryString: "",
    headers: {},
    body: '{"a":1,"b":2}',
    requestContext: { http: { method: "POST" } },
  };
  const sns = {
    Records: [
      {
        EventSource: "aws:sns",
        Sns: { Message: "m", MessageId: "1", TopicArn: "t", Subject: null, MessageAttributes: {} },
      },
    ],
  };
  const s3 = {
    Records: [
      { eventName: "ObjectCreated:Put", s3: { bucket: { name: "b" }, object: { key: "k", sequencer: "1" } } },
    ],
  };
  const bus = { id: "1", source: "s", "detail-type": "d", detail: { x: 1 } };
  it.each([
    ["fingerprintFromHttp", (copy: Copy) => copy.main.fingerprintFromHttp({}), request],
    [
      "fingerprintFromHttp with an address",
      (copy: Copy) => copy.main.fingerprintFromHttp({ withAddress: true }),
      request,
    ],
    ["fingerprintFromJson", (copy: Copy) => copy.main.fingerprintFromJson({ take: ["a"] }), request],
    ["fingerprintFromMultipart", (copy: Copy) => copy.main.fingerprintFromMultipart(), request],
    ["fingerprintFromSns", (copy: Copy) => copy.main.fingerprintFromSns(), sns],
    ["fingerprintFromS3", (copy: Copy) => copy.main.fingerprintFromS3(), s3],
    ["fingerprintFromEventBridge", (copy: Copy) => copy.main.fingerprintFromEventBridge(), bus],
  ])("computes the same fingerprint for %s, whichever copy reads it", async (_name, make, event) => {
    const store = memory();
    const call = (engine: Copy, helper: Copy) =>
      engine.main.runOnce(
        { ...options(store), fingerprint: make(helper) as never },
        "k1",
        event,
        () => "done",
      );

    for (const engine of [A(), B()])
      for (const helper of [A(), B()]) expect(await call(engine, helper)).toBe("done");
  });

  it("relays a commit that the other copy stored, sealed, with bodies in a bucket", async () => {
    const store = memory();
    const keys = keyService();
    const objects = new Map<string, string>();
    const client = {
      putObject: async ({ Key, Body }: { Key: string; Body: string }) => void objects.set(Key, Body),
      getObject: async ({ Key }: { Key: string }) => ({
        Body: { transformToString: async () => objects.get(Key)! },
      }),
    };
    const bodies = new (A().messaging.S3ClaimCheck)({ bucket: "bodies", client, minBytes: 100 });
    const sealing = A().stores.encrypted(store as never, { keys, messages: true } as never);
    const sent: string[] = [];
    const sqs = sqsInto(sent);
    // A sweeper leaves alone what was committed in the same millisecond.
    const clock = { now: () => Date.now() - 60_000, sleep: async () => {} };
    await B().main.runOnce<unknown, never>({ ...options(sealing), clock }, "k1", "in", async ({ commit }) => {
      const queue = "https://sqs.us-east-1.amazonaws.com/123456789012/orders";
      const [message] = await bodies.checkIn([{ queue, key: "m1", body: { large: "x".repeat(2000) } }]);
      return commit("done", { messages: [message as never] });
    });
    const outbox = B().stores.decryptingOutbox(store.outbox, { keys } as never);
    const sweep = B().messaging.outboxSweeper({
      outbox,
      destinations: "any",
      sqs,
      minAgeSeconds: 0,
    } as never) as unknown as Sweep;

    await sweep({}, A().testing.fakeLambdaContext({ clock: { now: Date.now } }));

    expect(sent.join()).toContain("123456789012/orders");
    expect(objects.size).toBe(1);
  });

  it("reconciles, erases and compares records that the other copy stored", async () => {
    const store = memory();
    await A().main.runOnce(options(store), "k1", "in", () => "done");
    const reconcile = B().reconciler.reconciler({
      store: store as never,
      operations: { charge: "hold" },
      observe: () => {},
    });

    expect(
      await reconcile({}, A().testing.fakeLambdaContext({ clock: { now: Date.now } }) as never),
    ).toBeDefined();
    const left: unknown[] = [];
    const recordKeys = store.records.keys();
    for await (const each of B().stores.unmigratedRecords({
      from: store as never,
      to: memory() as never,
      recordKeys,
    }))
      left.push(each);
    expect(left).toMatchObject([{ why: "unknown-there" }]);
  });

  it("has decisions observed by the other copy's metrics, log and traces", async () => {
    const lines: string[] = [];
    const write = (line: string) => void lines.push(line);
    const metrics = A().main.emfMetrics({ write } as never) as unknown as (event: never) => void;
    const log = A().main.decisionLog({
      logger: { info: write, warn: write, error: write, debug: write } as never,
    });
    const observe = (event: never) => {
      metrics(event);
      (log as unknown as (event: never) => void)(event);
    };

    await B().main.runOnce({ ...options(memory()), observe: observe as never }, "k1", "in", () => "done");

    expect(lines.length).toBeGreaterThan(0);
  });

  it("answers by an error of the other copy's model, and knows it by `instanceof`", async () => {
    const { aws } = A();
    const refused = new aws.DynamoDBError("ThrottlingException", "slow down");
    const model = new (B().aws.DynamoDBModel)({
      intercept: async () => {
        throw refused;
      },
    });
    const client = new DynamoDBClient({
      region: "us-east-1",
      credentials: { accessKeyId: "a", secretAccessKey: "b" },
      requestHandler: model.requestHandler(),
      maxAttempts: 1,
    });

    await expect(
      client.send(new GetItemCommand({ TableName: "t", Key: { pk: { S: "1" } } })),
    ).rejects.toMatchObject({ name: "ThrottlingException" });
    for (const name of ["DynamoDBError", "SqsError", "SnsError", "EventBridgeError"] as const) {
      const made = new (A().aws[name] as new (...given: string[]) => Error)("ValidationException", "x");
      expect(made, name).toBeInstanceOf(B().aws[name]);
      expect(new Error("x"), name).not.toBeInstanceOf(B().aws[name]);
    }
  });

  it("proves the store contract of the other copy's store, and simulates its handlers", async () => {
    const failures: string[] = [];
    const cases = B().testing.storeContract(() => memorySubject(memory() as never) as never);
    for (const { name, run } of cases)
      await run().catch((error: Error) => failures.push(`${name}: ${error.message}`));

    expect(failures).toEqual([]);
  });

  it("waits for the other copy's foreign request in a simulation", async () => {
    const { explore } = A().explorer;
    const asked: string[] = [];
    const handler = async () => {
      await B().explorer.foreignRequest({
        target: "legacy orders",
        operation: "GET",
        run: async () => void asked.push("get"),
        broken: () => new Error("broken"),
      });
      return { ok: true };
    };

    const report = await explore(handler as never, { orders: 1 } as never, { maxRuns: 20 });

    expect(asked.length).toBeGreaterThan(0);
    expect(B().explorer.reportPage([report])).toContain("<");
    expect(
      B().explorer.exactlyOnceMatchers.toBeExactlyOnce?.call({} as never, report as never),
    ).toBeDefined();
  });

  it.runIf(hasPostgres)("runs in a transaction of the other copy's adapter on PostgreSQL", async () => {
    const pool = poolOf(await portOf());
    const { table } = await storeOf(A().postgres.fromPg(pool as never) as never);
    const client = B().postgres.fromPg(pool as never);
    const store = new (A().postgres.PostgresTransactions)({ client, table } as never);
    const plain = new (B().postgres.PostgresStore)({
      client: A().postgres.fromPg(pool as never),
      table,
    } as never);
    let runs = 0;
    const inside = () =>
      B().main.runOnce<unknown, never>(options(store), "k1", "in", async (execution: Execution<never>) => {
        const transaction = store.clientOf(execution) as {
          query(text: string): Promise<{ rows: unknown[] }>;
        };
        runs += (await transaction.query("select 1")).rows.length;
        return { runs };
      });

    expect([await inside(), await inside()]).toEqual([{ runs: 1 }, { runs: 1 }]);
    expect(await A().main.runOnce(options(plain), "k2", "in", () => "done")).toBe("done");
  });

  it.runIf(hasValkey)("stores and caches on the other copy's adapter for Valkey", async () => {
    const client = A().valkey.fromIoredis(redisOf(await portOfValkey()) as never);
    const prefix = `copies-${one}-${other}`.replaceAll(" ", "-");
    const store = new (B().valkey.ValkeyStore)({
      client,
      prefix,
      acceptedRisks: ["evicts-records", "memory-only", "unreported"],
    } as never);
    let runs = 0;
    const call = () => A().main.runOnce(options(store), "k1", "in", () => ++runs);
    expect([await call(), await call()]).toEqual([1, 1]);
    const cache = B().valkey.valkeyCache({ client, prefix: `${prefix}-cache` } as never);
    const cached = A().stores.cached(memory() as never, { in: cache });
    expect(await B().main.runOnce(options(cached), "k1", "in", () => "done")).toBe("done");
  });
});
