// Dead letters go back to their queue: same envelope, another deduplication id, each at most once in the queue.
import { randomUUID } from "node:crypto";
import { ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../lib/core/clock.ts";
import { readEnvelope } from "../../../lib/messaging/envelope.ts";
import { writeEnvelope } from "../../../lib/messaging/sqs-and-sns.ts";
import { COMMANDS, runCommand, type Terminal } from "../lib/commands.ts";
import { startQueues } from "./queue-given.ts";

const SECRET = "canary-4711";
const BY = ["--by", "ana", "--why", "ticket 7"];

let queues: Awaited<ReturnType<typeof startQueues>>;
beforeAll(async () => {
  queues = await startQueues();
});
afterAll(() => queues.stop());

async function run(args: readonly string[], answer?: boolean) {
  const lines: string[] = [];
  const asked: string[] = [];
  const progress: number[] = [];
  const terminal: Terminal = {
    print: (line) => lines.push(line),
    clock: systemClock,
    env: {},
    progress: (done) => progress.push(done),
    confirm: async (question) => {
      asked.push(question);
      return answer;
    },
  };
  const status = await runCommand(COMMANDS.redrive!, args, terminal);
  return { status, text: lines.join("\n"), asked, progress };
}

/** Sends messages of these keys, with an envelope by default, and lets them become dead letters. */
async function deadLetters(queue: string, keys: readonly string[], hasEnvelope = true, group = "order-7") {
  const isFifo = queue.endsWith(".fifo");
  for (const key of keys) {
    const MessageAttributes = {
      ...(hasEnvelope && writeEnvelope({ key })),
      tenant: { DataType: "String", StringValue: "acme" },
    };
    const fifo = isFifo ? { MessageGroupId: group, MessageDeduplicationId: key } : {};
    const input = { QueueUrl: queue, MessageBody: `${SECRET} ${key}`, MessageAttributes, ...fifo };
    await queues.client.send(new SendMessageCommand(input));
  }
  for (let receive = 0; receive < 2 * keys.length + 2; receive++) {
    const all = { QueueUrl: queue, VisibilityTimeout: 0, MaxNumberOfMessages: 10 };
    await queues.client.send(new ReceiveMessageCommand(all));
  }
}

/** What a consumer gets, in its order. */
async function received(queue: string) {
  const { Messages = [] } = await queues.client.send(
    new ReceiveMessageCommand({
      QueueUrl: queue,
      MaxNumberOfMessages: 10,
      VisibilityTimeout: 60,
      MessageAttributeNames: ["All"],
      MessageSystemAttributeNames: ["All"],
    }),
  );
  return Messages.map(({ Body, MessageAttributes, Attributes }) => {
    const reading = readEnvelope(MessageAttributes);
    return {
      body: Body,
      key: reading.found && reading.envelope.key,
      tenant: MessageAttributes?.tenant?.StringValue,
      id: Attributes?.MessageDeduplicationId,
    };
  });
}

describe("onceonly redrive", () => {
  it("H59: moves FIFO messages back in their order, envelope kept and deduplication id changed", async () => {
    const { queue, dlq } = await queues.newPair(true);
    const keys = [randomUUID(), randomUUID(), randomUUID()];
    await deadLetters(queue, keys);

    const answer = await run([dlq, ...BY], true);

    expect(answer.asked).toEqual([
      expect.stringMatching(/^dead-\d+\.fifo: move about 3 of 3 messages to the queues they came from\?$/),
    ]);
    expect(answer).toMatchObject({ status: 0, text: "moved 3, by ana: ticket 7", progress: [1, 2, 3] });
    const messages = await received(queue);
    expect(messages.map(({ key }) => key)).toEqual(keys);
    expect(messages.map(({ body }) => body)).toEqual(keys.map((key) => `${SECRET} ${key}`));
    for (const { id, tenant } of messages) {
      expect(keys).not.toContain(id);
      expect(tenant).toBe("acme");
    }
    expect(await received(dlq)).toEqual([]);
  });

  it("moves the messages of one group back, in their order, and the others can be received immediately", async () => {
    const { queue, dlq } = await queues.newPair(true);
    const keys = [randomUUID(), randomUUID()];
    await deadLetters(queue, [randomUUID(), randomUUID()], true, "order-1");
    await deadLetters(queue, keys, true, "order-2");

    const answer = await run([dlq, ...BY, "--group", "order-2"], true);

    expect(answer.asked[0]).toContain("receive about 4 of 4 messages, and move those of this group to");
    expect(answer.status).toBe(0);
    expect(answer.text).toBe(
      "received but left here, because they didn't match: 2\nmoved 2, by ana: ticket 7",
    );
    expect((await received(queue)).map(({ key }) => key)).toEqual(keys);
    expect(await received(dlq)).toHaveLength(2);
  });

  it("moves the messages of one key back, but none before which another one of its group stays", async () => {
    const { queue, dlq } = await queues.newPair();
    await deadLetters(queue, ["a", "b", "c"]);
    const answer = await run([dlq, ...BY, "--message-key", "b", "--yes", "--json"]);
    expect(JSON.parse(answer.text)).toEqual({ moved: 1, passed: 2, left: [], by: "ana", why: "ticket 7" });
    expect((await received(queue)).map(({ key }) => key)).toEqual(["b"]);

    const fifo = await queues.newPair(true);
    await deadLetters(fifo.queue, ["first", "second"]);
    const stays = await run([fifo.dlq, ...BY, "--message-key", "second", "--yes"]);
    expect(stays.status).toBe(1);
    expect(stays.text).toContain("left here: an earlier message of its group was left here");
    expect(await received(fifo.queue)).toEqual([]);
  });

  it("moves nothing, and reports it, if no message is meant", async () => {
    const { queue, dlq } = await queues.newPair();
    await deadLetters(queue, ["a"]);

    expect(await run([dlq, ...BY, "--message-key", "b", "--yes"])).toMatchObject({ status: 1 });
    await expect(run([dlq, ...BY, "--group", "", "--yes"])).rejects.toThrow("--group is empty");
    expect(await received(dlq)).toHaveLength(1);
  });

  it("moves no more than requested, from a standard queue too", async () => {
    const { queue, dlq } = await queues.newPair();
    await deadLetters(queue, ["a", "b", "c"]);

    const answer = await run([dlq, ...BY, "--max", "2", "--yes", "--json"]);

    expect(JSON.parse(answer.text)).toEqual({ moved: 2, left: [], by: "ana", why: "ticket 7" });
    expect(await received(queue)).toHaveLength(2);
  });

  it("leaves a message without an envelope, and those after it in its group, until it is asked not to", async () => {
    const { queue, dlq } = await queues.newPair(true);
    await deadLetters(queue, [randomUUID()], false);
    await deadLetters(queue, [randomUUID()]);

    const { status, text } = await run([dlq, ...BY, "--yes"]);

    expect(status).toBe(1);
    expect(text).toMatch(
      /^\S+ {2}left here: it has no envelope\n\S+ {2}left here: an earlier message of its group was left here\n/,
    );
    expect(text).toContain("moved 0");
    expect(await received(queue)).toEqual([]);
  });

  it("prints the requests of a dry run without payloads, and sends nothing", async () => {
    const { queue, dlq } = await queues.newPair();
    const key = randomUUID();
    await deadLetters(queue, [key]);

    const { status, text, asked } = await run([dlq, ...BY, "--dry-run"]);

    expect([status, asked]).toEqual([0, []]);
    expect(text).toMatch(/^SendMessage \{[\s\S]*\nDeleteMessage \{[\s\S]*dry run: nothing was written$/);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(key);
    expect(await received(queue)).toEqual([]);
  });

  it("sends to another queue, and changes nothing after a no or in an empty queue", async () => {
    const [{ queue, dlq }, other] = [await queues.newPair(), await queues.newPair()];
    await deadLetters(queue, ["a"]);

    const no = await run([dlq, ...BY], false);
    const yes = await run([dlq, ...BY, "--to", other.queue, "--yes"]);
    const empty = await run([dlq, ...BY, "--yes"]);

    expect(no).toMatchObject({ status: 1, text: "nothing was changed" });
    expect(yes.status).toBe(0);
    expect(await received(other.queue)).toMatchObject([{ key: "a" }]);
    expect(empty).toMatchObject({ status: 1, text: "moved 0, by ana: ticket 7" });
  });

  it("leaves what it could not send, and reports why", async () => {
    const { queue, dlq } = await queues.newPair();
    await deadLetters(queue, ["a"]);

    const { status, text } = await run([dlq, ...BY, "--to", `${queue}-none`, "--yes"]);

    expect(status).toBe(1);
    expect(text).toMatch(/left here: it wasn't sent: \w*QueueDoesNotExist/);
  });

  it("rejects a source queue, another kind of queue, and a missing terminal, before it receives", async () => {
    const [{ queue, dlq }, fifo] = [await queues.newPair(), await queues.newPair(true)];
    await deadLetters(queue, ["a"]);

    await expect(run([queue, ...BY, "--yes"])).rejects.toThrow("this queue has its own dead-letter queue");
    await expect(run([dlq, ...BY, "--to", fifo.queue, "--yes"])).rejects.toThrow(
      "--to isn't the same type as the dead-letter queue",
    );
    await expect(run([dlq, ...BY])).rejects.toThrow("not a terminal");
    expect(await received(dlq)).toHaveLength(1);
  });

  it.each([
    [["payments-dlq", ...BY], "not a queue URL"],
    [["http://127.0.0.1:1/0/dlq", "--by", "ana"], "--why is required"],
    [["http://127.0.0.1:1/0/dlq", ...BY, "--max", "0"], "--max must be a whole number from 1 to 100000"],
    [
      ["http://127.0.0.1:1/0/dlq", ...BY, "--to", "http://127.0.0.1:1/0/dlq"],
      "--to is the dead-letter queue itself: pass another queue",
    ],
    [["http://127.0.0.1:1/0/dlq", ...BY, "--to", "http://127.0.0.1:2/0/q"], "--to isn't in the same region"],
  ])("refuses %j before any request", async (args, message) => {
    await expect(run([...args, "--yes"])).rejects.toThrow(message);
  });
});
