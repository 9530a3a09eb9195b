// The whole way of messages to several destinations, one of which is gone, hangs or is slow. Commits go to a DynamoDB
// table, and its stream, relay and sweeper feed queues and a consumer. The numbers are those with which an
// outbox that marks only whole commits breaks.
import type { SQSRecord } from "aws-lambda";
import { idempotent, idempotentBatch, type OutgoingMessage } from "onceonly";
import { DynamoDBOutbox, DynamoDBStore } from "onceonly/dynamodb";
import { type OutboxOptions, outboxRelay, outboxSweeper } from "onceonly/messaging";
import { describe, expect, it } from "vitest";
import type { Io } from "../../lib/simulator/io.ts";
import type { Simulator } from "../../lib/simulator/simulator.ts";
import type { SimulatorOptions } from "../../lib/simulator/simulator-options.ts";
import { effect, givenAws, MINUTE, rowsOf } from "./given.ts";

const HOUR = 60 * MINUTE;
const urlOf = (name: string) => `https://sqs.us-east-1.amazonaws.com/000000000000/${name}`;
const to = (queue: string, key: string, group?: string): OutgoingMessage => ({
  queue: urlOf(queue),
  key,
  body: key,
  ...(group !== undefined && { group }),
});

interface Order {
  readonly key: string;
  readonly messages: readonly OutgoingMessage[];
}

/** Orders that commit messages, relay and sweeper as the sample has them; queues are for each test to make. */
function givenOutbox(options: SimulatorOptions = {}, rules: Partial<OutboxOptions> = {}, shards = 8) {
  const aws = givenAws(options);
  const store = new DynamoDBStore({ tableName: "idempotency", outbox: { shards } });
  const order = aws.lambda(
    idempotent(async ({ messages }: Order, { idempotency }) => idempotency.commit(null, { messages }), {
      operation: "order",
      store,
      key: ({ key }) => key,
      fingerprint: ({ key }) => key,
    }),
    { name: "order" },
  );
  const senders = () => ({
    outbox: new DynamoDBOutbox({ tableName: "idempotency", shards }),
    destinations: "any" as const,
    observe: () => {},
    ...rules,
  });
  return {
    aws,
    store,
    commit: (key: string, ...messages: readonly OutgoingMessage[]) => order.invoke({ key, messages }),
    relay(): void {
      const relay = aws.lambdaPerEnvironment(() => outboxRelay(senders()), { name: "relay", concurrency: 1 });
      aws.connectTable(relay, { tableName: "idempotency" });
    },
    sweep(everyMs = MINUTE): void {
      aws.every(
        everyMs,
        aws.lambdaPerEnvironment(() => outboxSweeper(senders()), { name: "sweeper", concurrency: 1 }),
      );
    },
  };
}

/** How many requests of relay and sweeper there were. */
function asked(aws: Simulator, isMeant: (io: Io) => boolean): number {
  return aws.trace.filter(({ io }) => io && /^(relay|sweeper)/.test(io.hostId) && isMeant(io)).length;
}

const isSend = ({ service }: Io) => service === "sqs";
/** Beside the lease of a sweep, one small request at its beginning and one at its end. */
const isMark = ({ operation, input }: Io) =>
  operation === "TransactWriteItems" ||
  (operation === "UpdateItem" && !JSON.stringify(input).includes("outbox/sweep"));

async function bodiesIn(aws: Simulator, queue: string): Promise<string[]> {
  const bodies: string[] = [];
  for (;;) {
    const { Messages = [] } = await aws.sqs.call("ReceiveMessage", {
      QueueUrl: urlOf(queue),
      MaxNumberOfMessages: 10,
    });
    if (Messages.length === 0) return bodies;
    for (const { Body, ReceiptHandle } of Messages) {
      bodies.push(Body!);
      await aws.sqs.call("DeleteMessage", { QueueUrl: urlOf(queue), ReceiptHandle });
    }
  }
}

describe("a destination that is gone", () => {
  it.each(["", ".fifo"])(
    "H72: D1, an order whose mail queue%s is gone is charged once in 75 hours, by one delivery, though the charge's record expires",
    async (fifo) => {
      // A sweep asks each shard: of one commit they say nothing.
      const { aws, store, commit, relay, sweep } = givenOutbox({}, {}, 1);
      let deliveries = 0;
      const charge = idempotentBatch<SQSRecord, never>(
        async ({ body }) => {
          deliveries++;
          await effect(body);
        },
        { operation: "charge", store, retentionSeconds: 24 * 3600 },
      );
      const queueUrl = aws.queue(`payments${fifo}`);
      aws.connectQueue(aws.lambda(charge, { name: "charge" }), { queueUrl });
      relay();
      // As often as it matters: what fails is tried at intervals of a quarter of an hour.
      sweep(15 * MINUTE);

      await aws.run(async () => {
        await commit("order", to(`payments${fifo}`, "charge", "order"), to(`mail${fifo}`, "mail", "order"));
        await aws.clock.sleep(75 * HOUR);
      });

      expect((await rowsOf(aws, "effects")).map(({ of }) => of?.S)).toEqual(["charge"]);
      expect(deliveries).toBe(1);
      expect(asked(aws, ({ service, target }) => service === "sqs" && target === `payments${fifo}`)).toBe(1);
    },
    120_000,
  );

  it("H72: D3, healthy FIFO groups of the commits that share it are paid, 15 of 15, in their order", async () => {
    const { aws, commit, relay, sweep } = givenOutbox();
    aws.queue("payments.fifo");
    relay();
    sweep();

    await aws.run(async () => {
      for (let order = 1; order <= 15; order++) {
        const group = `customer-${order % 3}`;
        const mail = order % 3 === 1 ? [] : [to("mail.fifo", `mail-${order}`, group)];
        await commit(`${order}`, ...mail, to("payments.fifo", `${order}`, group));
      }
      await aws.clock.sleep(2 * MINUTE);
    });

    const paid = (await bodiesIn(aws, "payments.fifo")).map(Number);
    expect(paid).toHaveLength(15);
    for (const customer of [0, 1, 2]) {
      const own = paid.filter((order) => order % 3 === customer);
      expect(own).toEqual([...own].sort((one, other) => one - other));
    }
  });
});

describe("a destination that comes back after its messages were parked for their age", () => {
  it.each([1, 2])(
    "H72: gets them once an operator has them sent again, although their line of %i is noted as failing",
    async (count) => {
      const { aws, commit, relay, sweep } = givenOutbox({}, { parkAfterSeconds: 1800 }, 1);
      aws.queue("mail.fifo");
      relay();
      sweep();
      let isGone = true;
      aws.faults = ({ target }) =>
        isGone && target === "mail.fifo" ? { kind: "refused", code: "QueueDoesNotExist" } : undefined;
      const outbox = new DynamoDBOutbox({ tableName: "idempotency", shards: 1 });

      await aws.run(async () => {
        for (let mail = 1; mail <= count; mail++)
          await commit(`${mail}`, to("mail.fifo", `${mail}`, "group"));
        await aws.clock.sleep(45 * MINUTE);
        expect(await outbox.count()).toEqual({ waiting: 0, parked: count });
        isGone = false;
        for await (const { commit } of outbox.list("parked"))
          expect(
            await outbox.sendAgain(commit!, { by: "ana", why: "the queue is back", clock: aws.clock }),
          ).toBe(true);
        await aws.clock.sleep(20 * MINUTE);
        expect(await outbox.count()).toEqual({ waiting: 0, parked: 0 });
      });

      expect(await bodiesIn(aws, "mail.fifo")).toEqual(["1", "2"].slice(0, count));
    },
  );
});

describe("a destination that never answers", () => {
  it("H72: D4, after 320 commits to it, 20 of 20 healthy messages are sent within two sweeps", async () => {
    const { aws, commit, sweep } = givenOutbox();
    aws.queue("healthy");
    aws.faults = ({ service, target }) =>
      service === "sqs" && target === "hanging" ? { kind: "unanswered" } : undefined;

    await aws.run(async () => {
      for (let index = 0; index < 320; index++) await commit(`lost ${index}`, to("hanging", `${index}`));
      for (let index = 0; index < 20; index++) await commit(`paid ${index}`, to("healthy", `${index}`));
      await aws.clock.sleep(MINUTE);
      sweep();
      await aws.clock.sleep(2 * MINUTE + 40_000);
    });

    expect(await bodiesIn(aws, "healthy")).toHaveLength(20);
  }, 60_000);
});

describe("more than one invocation holds", () => {
  it("H73: D2, 10 commits of 100 messages of one group at 40 ms take, in an hour, 1.1 requests for each that is needed", async () => {
    const { aws, commit, relay, sweep } = givenOutbox({ latencyMs: { sqs: 40 } });
    aws.queue("hot.fifo");
    relay();
    sweep();

    await aws.run(async () => {
      for (let index = 0; index < 10; index++) {
        const names = Array.from({ length: 100 }, (_, number) => `${index}-${number}`);
        await commit(`${index}`, ...names.map((name) => to("hot.fifo", name, "hot")));
      }
      await aws.clock.sleep(HOUR);
    });

    expect(asked(aws, (io) => isSend(io) || isMark(io))).toBeLessThanOrEqual(1.1 * (1000 + 10));
    expect(new Set(await bodiesIn(aws, "hot.fifo")).size).toBe(1000);
    expect((await rowsOf(aws, "idempotency")).some((row) => row.unsentSince)).toBe(false);
  }, 60_000);

  it("H73: D2, a commit at the documented maximum, 1000 messages of one group, is sent in the same way at 35 ms", async () => {
    const { aws, commit, relay, sweep } = givenOutbox({ latencyMs: { sqs: 35 } });
    aws.queue("hot.fifo");
    relay();
    sweep();
    const names = Array.from({ length: 1000 }, (_, index) => `${index}`);

    await aws.run(async () => {
      await commit("largest", ...names.map((name) => to("hot.fifo", name, "hot")));
      await aws.clock.sleep(HOUR);
    });

    expect(asked(aws, (io) => isSend(io) || isMark(io))).toBeLessThanOrEqual(1.1 * (1000 + 1));
    expect(await bodiesIn(aws, "hot.fifo")).toEqual(names);
  }, 60_000);
});
