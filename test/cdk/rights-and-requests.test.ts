// The rights that constructs grant are the requests that handlers, relay and sweeper send: none is missing, and none is
// idle. A client refuses what IAM would refuse, on a real engine.

import { randomUUID } from "node:crypto";
import { describe, expect, inject, it } from "vitest";
import {
  type RecordAccessOptions,
  type Right,
  rightsOf,
  SENDING_RIGHTS,
} from "../../lib/cdk/record-access.ts";
import { OUTBOX_ATTRIBUTES, OUTBOX_SHARDS } from "../../lib/contract.ts";
import { systemClock } from "../../lib/core/clock.ts";
import type { Execution } from "../../lib/core/execution.ts";
import { identify } from "../../lib/core/identity.ts";
import { type RunOnceOptions, runOnce } from "../../lib/core/run-once.ts";
import type { DynamoDBWrite } from "../../lib/dynamodb/writes.ts";
import { idempotentBatch } from "../../lib/lambda/batch/idempotent-batch.ts";
import { fakeClock } from "../../lib/testing/fake-clock.ts";
import { fakeLambdaContext } from "../../lib/testing/fake-lambda-context.ts";
import { newOutboxTable } from "../dynamodb/outbox-given.ts";
import { aroundRequests } from "../kit/faults/around-requests.ts";
import { clientError } from "../kit/faults/faulty-client.ts";
import { connect } from "../kit/tables.ts";
import { sqsRecord } from "../lambda/batch/given.ts";
import { guard, type Seen } from "./iam-world.ts";

type Work = (execution: Execution<DynamoDBWrite>) => unknown;

interface Handler {
  readonly run: (
    key: string,
    work: Work,
    change?: Partial<RunOnceOptions<DynamoDBWrite>>,
  ) => Promise<unknown>;
  /** Has a batch of messages done; resolves to those that are returned. */
  readonly deliver: (bodies: readonly string[]) => Promise<unknown[]>;
  /** The next request meets an error of this name. */
  readonly failNext: (name: string) => void;
}

const [engine] = inject("everyDynamodbEngine");
const queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo";
const messageOf = (bytes: number) => ({ queue, key: randomUUID(), group: "a", body: "x".repeat(bytes) });

async function handlerWith(rights: readonly Right[]): Promise<{ handler: Handler; seen: Seen[] }> {
  const client = connect(engine!.endpoint, { maxAttempts: 1 });
  const { store, tableName } = await newOutboxTable(client, engine!.endpoint);
  const seen = guard(client, tableName, rights);
  const options = { operation: "create-order", store, leaseSeconds: 30 };
  let next: string | undefined;
  aroundRequests(client, ({ send }) => {
    const name = next;
    next = undefined;
    return name === undefined ? send() : Promise.reject(clientError(name));
  });
  const handler: Handler = {
    run: (key, work, change) => runOnce({ ...options, ...change }, key, {}, work),
    deliver: async (bodies) => {
      const batch = idempotentBatch<{ body: string }>(() => "done", { ...options, onRecordError: () => {} });
      const records = bodies.map((body) => sqsRecord(body, body));
      const { batchItemFailures } = await batch(
        { Records: records },
        fakeLambdaContext({ clock: systemClock }),
      );
      return batchItemFailures;
    },
    failNext: (name) => {
      next = name;
    },
  };
  return { handler, seen };
}

/** An attempt that has begun, and ends on request. */
async function attempt(run: Handler["run"], key: string) {
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  let answer: Promise<unknown> | undefined;
  await new Promise<void>((started) => {
    answer = run(key, async () => {
      started();
      await ended;
      return "slow";
    });
  });
  return { answer, end };
}

/** Claims, replays, refuses one in progress, takes over, releases and records a final error: with small results. */
async function runSmall({ run }: Handler): Promise<void> {
  const key = randomUUID();
  expect(await run(key, () => "small")).toBe("small");
  expect(await run(key, () => "again")).toBe("small");

  const slow = await attempt(run, "slow");
  await expect(run("slow", () => "beside")).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });
  const later = fakeClock(Date.now() + 3_600_000);
  expect(await run("slow", () => "took over", { clock: later })).toBe("took over");
  slow.end();
  expect(await slow.answer).toBe("took over");

  const fail = () => Promise.reject(new Error("no"));
  await expect(run("fails", fail)).rejects.toThrow("no");
  await expect(run("fails", fail, { isFinalError: () => true })).rejects.toThrow("no");
  await expect(run("fails", () => "never")).rejects.toThrow("no");
}

async function runLarge({ run }: Handler): Promise<void> {
  const large = Array.from({ length: 400 }, () => randomUUID()).join();
  const key = randomUUID();
  expect(await run(key, () => large)).toBe(large);
  expect(await run(key, () => "again")).toBe(large);
}

async function runWaiting({ run }: Handler): Promise<void> {
  const slow = await attempt(run, "slow");
  async function sleep(): Promise<void> {
    slow.end();
    await slow.answer;
  }
  const waiting = { whenInProgress: { waitSeconds: 5 }, clock: { now: () => Date.now(), sleep } };
  expect(await run("slow", () => "beside", waiting)).toBe("slow");
}

async function runLookingFirst({ run }: Handler): Promise<void> {
  const key = randomUUID();
  expect(await run(key, () => "first", { mode: "optimistic" })).toBe("first");
  expect(await run(key, () => "second", { mode: "optimistic" })).toBe("first");
  // A UUIDv7 of 2023.
  expect(await run("018c251d-9800-7000-8000-000000000000", () => "old")).toBe("old");
}

async function runCommits({ run, failNext }: Handler): Promise<void> {
  const large = [messageOf(300_000), messageOf(300_000)];
  await run(randomUUID(), (execution) => execution.commit("small", { messages: [messageOf(10)] }));
  await run(randomUUID(), (execution) => execution.commit("large", { messages: large }));
  failNext("TransactionConflictException");
  expect(await run(randomUUID(), () => "after a conflict")).toBe("after a conflict");
}

async function runBatches({ deliver }: Handler): Promise<void> {
  const bodies = ["a", "b", "c"];
  expect(await deliver(bodies)).toEqual([]);
  expect(await deliver([...bodies, "d"])).toEqual([]);
  // The ones that come alone.
  expect(await deliver(["e"])).toEqual([]);
}

const LEAN: RecordAccessOptions = {
  largeResults: false,
  waiting: false,
  operations: ["create-order"],
};

const uses: readonly (readonly [string, RecordAccessOptions, (handler: Handler) => Promise<void>])[] = [
  ["small results", LEAN, runSmall],
  ["large results", { operations: ["create-order"] }, runLarge],
  ["waiting", { ...LEAN, waiting: true }, runWaiting],
  ["looking first", { ...LEAN, lookFirst: true }, runLookingFirst],
  ["commits", { ...LEAN, commits: true }, runCommits],
  ["batches", { ...LEAN, batches: true }, runBatches],
];

const actionsOf = (seen: readonly Seen[]) => [...new Set(seen.map(({ action }) => action))].sort();

describe.each(uses)("the rights for %s", (_, options, use) => {
  it("are enough, and none too many", async () => {
    const rights = rightsOf(options, true);
    const { handler, seen } = await handlerWith(rights);

    await use(handler);

    expect(actionsOf(seen)).toEqual(rights.flatMap(({ actions }) => actions).sort());
  });

  it("keep other operations' records closed", async () => {
    const { handler } = await handlerWith(rightsOf({ ...options, operations: ["another"] }, true));

    await expect(handler.run("key", () => "never")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  });
});

describe("the rights of an operation that commits to a table without an outbox", () => {
  const rights = rightsOf({ ...LEAN, commits: true }, false);

  it("are enough for all but messages, which nothing would send: IAM refuses them, and the error says why", async () => {
    const { handler, seen } = await handlerWith(rights);
    const commit = (count: number) => (execution: Execution<DynamoDBWrite>) =>
      execution.commit("done", { messages: Array.from({ length: count }, () => messageOf(300_000)) });

    await expect(handler.run("one", commit(1))).rejects.toMatchObject({
      code: "STORE_UNAVAILABLE",
      retryable: false,
      message: expect.stringContaining(
        "to commit messages, the table needs an outbox, and the function a grant with `commits`",
      ),
    });
    await expect(handler.run("three", commit(3))).rejects.toThrow(
      "to commit messages, the table needs an outbox",
    );
    expect(await handler.run("none", commit(0))).toBe("done");
    handler.failNext("TransactionConflictException");
    expect(await handler.run("conflict", () => "after a conflict")).toBe("after a conflict");
    expect(actionsOf(seen)).toEqual([...new Set(rights.flatMap(({ actions }) => actions))].sort());
  });

  it("are distinguished from other refusals", async () => {
    const { handler } = await handlerWith(rightsOf({ ...LEAN, commits: true }, true));
    const refused = (execution: Execution<DynamoDBWrite>) => {
      handler.failNext("ValidationException");
      return execution.commit("", { messages: [messageOf(10)] });
    };

    await expect(handler.run("key", refused)).rejects.toThrow(
      /refused UpdateItem on .+ \(ValidationException/,
    );
  });
});

describe("the rights of an operation that commits nothing", () => {
  const plain = rightsOf({ operations: ["create-order"] }, true);

  it("H75: do not reach the attributes from which the relay reads what to send", async () => {
    const { handler } = await handlerWith(plain);
    const plant = (execution: Execution<DynamoDBWrite>) =>
      execution.commit("", { messages: [messageOf(10)] });

    await expect(handler.run("planted", plant)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
    expect(await handler.run("plain", () => "done")).toBe("done");
  });

  it("H75: leave out every attribute that the outbox needs to find and to send", async () => {
    const client = connect(engine!.endpoint, { maxAttempts: 1 });
    const { store, tableName } = await newOutboxTable(client, engine!.endpoint);
    const seen = guard(client, tableName, rightsOf({ commits: true }, true));
    const options = { operation: "create-order", store, leaseSeconds: 30 };
    const written = async (messages: ReturnType<typeof messageOf>[]) => {
      seen.length = 0;
      await runOnce(options, randomUUID(), {}, (execution) => execution.commit("", { messages }));
      return new Set(seen.flatMap(({ attributes }) => attributes));
    };
    const none = await written([]);
    const some = await written([messageOf(10)]);
    const many = await written([messageOf(300_000), messageOf(300_000)]);

    const ofOutbox = [...new Set([...some, ...many])].filter((name) => !none.has(name));
    expect(ofOutbox).toEqual(expect.arrayContaining(OUTBOX_ATTRIBUTES.slice(0, 5)));
    // When the record expires once all is sent has nobody send anything.
    expect(ofOutbox.filter((name) => !OUTBOX_ATTRIBUTES.includes(name))).toEqual(["expiresOnceSent"]);
  });

  it("H75: leave out the senders' marks on a commit, by which it would count as sent, or as taken for ever", async () => {
    const client = connect(engine!.endpoint, { maxAttempts: 1 });
    const { store, outbox, tableName } = await newOutboxTable(client, engine!.endpoint);
    const messages = [messageOf(10), messageOf(10)];
    await runOnce({ operation: "create-order", store, leaseSeconds: 30 }, "key", {}, (execution) =>
      execution.commit("", { messages }),
    );
    const { recordKey } = identify("create-order", "", "key");
    const seen = guard(client, tableName, SENDING_RIGHTS);
    const now = Date.now() + 1000;
    const taken = await outbox.take(recordKey, { by: "relay", id: "1", now, until: now + 1000 });

    if (taken.state !== "taken") expect.unreachable();
    const sent = { state: "sent", tries: 1 } as const;
    await outbox.keep(taken.unsent, [sent, { state: "waiting", tries: 1 }], now);
    await outbox.markSent(taken.unsent, [sent, sent]);
    await outbox.replaceNotes(undefined, "[]");

    const written = new Set(seen.flatMap(({ attributes }) => attributes));
    const ofRecords = ["pk", "version", "token", "expiresAt", "expiresOnceSent"];
    expect(
      [...written].filter((name) => !OUTBOX_ATTRIBUTES.includes(name) && !ofRecords.includes(name)),
    ).toEqual([]);
    expect([...written]).toEqual(expect.arrayContaining([...OUTBOX_ATTRIBUTES]));
  });
});

describe("the rights of relay and sweeper", () => {
  it("are enough, and none too many", async () => {
    const client = connect(engine!.endpoint, { maxAttempts: 1 });
    const { store, outbox, tableName } = await newOutboxTable(client, engine!.endpoint);
    const options = { operation: "create-order", store, leaseSeconds: 30 };
    const large = [messageOf(300_000), messageOf(300_000)];
    for (const messages of [[messageOf(10)], large]) {
      await runOnce(options, randomUUID(), {}, (execution) => execution.commit("", { messages }));
    }
    const query = { actions: ["dynamodb:Query"], conditions: {} };
    const seen = guard(client, tableName, [...SENDING_RIGHTS, query]);

    const found: string[] = [];
    for (let shard = 0; shard < OUTBOX_SHARDS; shard++) {
      for await (const page of outbox.findUnsent(shard, Date.now() + 1000)) {
        found.push(...page.map(({ recordKey }) => recordKey));
      }
    }
    for (const recordKey of found) await outbox.markSent((await outbox.load(recordKey))!);

    expect(found).toHaveLength(2);
    expect(actionsOf(seen)).toEqual([
      "dynamodb:DeleteItem",
      "dynamodb:GetItem",
      "dynamodb:Query",
      "dynamodb:UpdateItem",
    ]);
  });
});
