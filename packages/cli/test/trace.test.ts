// One key from its request to the consumer, with the real tables and queues of local engines.
import { randomUUID } from "node:crypto";
import { ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { OutcomeUnknownError } from "../../../lib/core/errors.ts";
import { runOnce } from "../../../lib/core/run-once.ts";
import { writeEnvelope } from "../../../lib/messaging/sqs-and-sns.ts";
import { startQueues } from "./queue-given.ts";
import { newWorld, type World } from "./world.ts";

const SECRET = "canary-4711";

let world: World;
let queues: Awaited<ReturnType<typeof startQueues>>;
beforeAll(async () => {
  [world, queues] = await Promise.all([newWorld(), startQueues()]);
});
afterAll(() => queues.stop());

const options = (operation: string, scope?: string) => ({
  operation,
  ...(scope !== undefined && { scope }),
  store: world.store,
  clock: world.clock,
  leaseSeconds: 30,
});

/** A message of this key, which becomes a dead letter. */
async function deadLetter({ queue }: { queue: string }, key: string): Promise<void> {
  const MessageAttributes = writeEnvelope({ key });
  const input = { QueueUrl: queue, MessageBody: SECRET, MessageAttributes };
  await queues.client.send(new SendMessageCommand(input));
  for (let receive = 0; receive < 2; receive++)
    await queues.client.send(new ReceiveMessageCommand({ QueueUrl: queue, VisibilityTimeout: 0 }));
}

describe("onceonly trace", () => {
  it("follows a key from its request through outbox, queue and dead letters to the consumer's record", async () => {
    const [key, orderId] = [randomUUID(), `order-${randomUUID()}`];
    const pair = await queues.newPair();
    await runOnce(options("order", "acme"), key, {}, ({ commit }) =>
      commit(
        { statusCode: 201, body: SECRET },
        { messages: [{ queue: pair.queue, key: orderId, body: SECRET }] },
      ),
    );
    await deadLetter(pair, orderId);
    await deadLetter(pair, "another");
    const held = runOnce({ ...options("pay"), whenAbandoned: "hold" }, orderId, {}, () => {
      throw new OutcomeUnknownError();
    });
    await expect(held).rejects.toThrow();

    const { status, text } = await world.run("trace", [
      key,
      "-o",
      "order",
      "-s",
      "acme",
      "--consumer",
      "pay",
    ]);

    expect(status).toBe(0);
    expect(text).toMatch(
      /^order#acme#\S+\ncompleted, attempt 1\n├ request: first received .*, HTTP response 201\n/,
    );
    expect(text).toMatch(/├ outbox\n│ └ message 0 to \S*work-\d+: waiting, 0 tries/);
    expect(text).toMatch(/├ queue work-\d+: about 0 waiting, 0 in flight, 0 delayed/);
    expect(text).toMatch(/├ dead-letter queue dead-\d+: about 2 waiting/);
    expect(text).toMatch(
      /│ ├ its message is here: \S+, sent .*, received \d+ times\n│ └ other messages checked: 1/,
    );
    expect(text).toMatch(/└ consumer pay: held, attempt 1, pay##\S+\n {2}├ request/);
    expect(text).toMatch(/ {2}├ verdict: unknown, by handler/);
    for (const hidden of [SECRET, key, orderId, "another"]) expect(text).not.toContain(hidden);
  });

  it("prints one object, which holds neither keys nor payloads", async () => {
    const key = randomUUID();
    const pair = await queues.newPair();
    await deadLetter(pair, key);
    await runOnce(options("order"), key, {}, () => SECRET);

    const args = [
      key,
      "-o",
      "order",
      "--dlq",
      pair.dlq,
      "--queue",
      pair.queue,
      "--consumer",
      "ship",
      "--json",
    ];
    const { text } = await world.run("trace", args);

    expect(JSON.parse(text)).toMatchObject({
      state: "completed",
      attempt: 1,
      queues: [{ url: pair.queue, waiting: 0, deadLetters: pair.dlq }],
      deadLetters: [{ url: pair.dlq, waiting: 1, messages: [{ isOurs: true }], redrives: [] }],
      consumers: [{ operation: "ship" }],
    });
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(key);
  });

  it("deletes no dead letter, and looks at none unless requested", async () => {
    const key = randomUUID();
    const pair = await queues.newPair();
    await deadLetter(pair, key);
    const args = [key, "-o", "order", "--dlq", pair.dlq, "--message-key", key];

    const first = await world.run("trace", [...args, "--peek", "0"]);
    const second = await world.run("trace", args);

    expect(first.text).toContain("no message of this key among the 0 checked");
    expect(second.text).toMatch(/dead-letter queue dead-\d+: about 1 waiting/);
    expect(second).toMatchObject({ status: 1, text: expect.stringContaining("no record: nothing ran") });
    const { text } = await world.run("trace", [...args, "--peek", "0"]);
    expect(text).toMatch(/about 0 waiting, 1 in flight/);
  });

  it("does not look into a dead-letter queue that counts receives itself", async () => {
    const pair = await queues.newPair();
    const { text } = await world.run("trace", ["k", "-o", "order", "--dlq", pair.queue]);

    expect(text).toContain("not checked: it has its own dead-letter queue");
  });

  it("reports a queue that can't be asked by its error, and continues", async () => {
    const pair = await queues.newPair();
    const absent = `${pair.queue}-none`;
    const { text } = await world.run("trace", ["k", "-o", "order", "--queue", absent, "--consumer", "pay"]);

    expect(text).toMatch(/queue work-\d+-none: can't be read: \w*QueueDoesNotExist/);
    expect(text).toMatch(/consumer pay: no record of pay##\S+, so it hasn't started/);
  });

  it("shows previous attempts, a lease that has ended, and the steps of a saga below its name", async () => {
    const key = randomUUID();
    const released = runOnce(options("ship"), key, {}, () => Promise.reject(new Error("try again")));
    await expect(released).rejects.toThrow();
    await new Promise<void>((begun) => {
      void runOnce({ ...options("ship"), renewLease: false }, key, {}, async ({ step }) => {
        await step("book", () => "b-1");
        await step("trip/flight", () => "f-1");
        await step("trip//turned-back", () => "t");
        begun();
        await new Promise(() => {});
      });
    });
    await world.clock.advance(40_000);

    const { text } = await world.run("trace", [key, "-o", "ship"]);

    expect(text).toContain("├ attempt 1: over. Any further writes are refused");
    expect(text).toMatch(/├ attempt 2: in-progress\n│ └ lease ended .* ago\): abandoned/);
    expect(text).toMatch(/├ step book: done, attempt 2/);
    expect(text).toMatch(/├ saga trip, compensated\n│ └ step flight: done, attempt 2/);
  });

  it.each([
    [["k"], "--operation is required"],
    [["k", "-o", "pay", "--peek", "21"], "--peek must be a whole number from 0 to 20"],
    [["k", "-o", "pay", "--peek", "many"], "--peek must be a whole number from 0 to 20"],
    [["k", "-o", "pay", "--dlq", "payments-dlq"], "not a queue URL: payments-dlq"],
    [["k", "-o", "pay", "--queue", "http://evil.example/1/q"], "not a queue URL"],
  ])("refuses %j before anything is sent to a queue", async (args, message) => {
    await expect(world.run("trace", args)).rejects.toThrow(message);
  });
});
