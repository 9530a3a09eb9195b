// Twelve incidents, each answered by one command of the real command line: quickly, without a scan, and without a payload.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DeleteItemCommand } from "@aws-sdk/client-dynamodb";
import { ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import { runOnce, saga } from "onceonly";
import { fakeClock } from "onceonly/testing";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { identify, PUBLIC_SCOPE } from "../../../lib/core/identity.ts";
import type { ListedCommit } from "../../../lib/core/messages/operated-outbox.ts";
import { writeEnvelope } from "../../../lib/messaging/sqs-and-sns.ts";
import { root } from "../../../test/kit/project.ts";
import { type FaultProxy, startFaultProxy } from "../../local/lib/fault-proxy.ts";
import { startQueues } from "./queue-given.ts";
import { newWorld, type World } from "./world.ts";

const MOST_REQUESTS = 20;
const SECRET = "canary-4711";
const HOUR_MS = 3_600_000;
const GONE = "https://sqs.eu-central-1.amazonaws.com/123456789012/gone";

let world: World;
let queues: Awaited<ReturnType<typeof startQueues>>;
let proxy: FaultProxy;
let asked: string[] = [];
beforeAll(async () => {
  [world, queues] = await Promise.all([newWorld(), startQueues()]);
  const decide = ({ operation }: { readonly operation: string }) => {
    asked.push(operation);
    return "pass" as const;
  };
  proxy = await startFaultProxy({ target: inject("dynamodbEngines")[0]!.endpoint, decide });
});
afterAll(async () => {
  await proxy.stop();
  await queues.stop();
});

/** Runs the command line as its user does. Each answer is one command's, without a scan, and names no payload. */
async function onceonly(...args: readonly string[]): Promise<{ status: number; text: string }> {
  asked = [];
  const place = ["--table", world.tableName, "--endpoint", proxy.endpoint];
  const node = ["--import", "tsx", join(root, "packages/cli/lib/onceonly.ts"), ...args, ...place];
  const answer = await new Promise<{ status: number; text: string }>((resolve) => {
    execFile(process.execPath, node, { cwd: root }, (error, stdout, stderr) =>
      resolve({ status: Number(error?.code ?? 0), text: `${stdout}${stderr}`.trim() }),
    );
  });
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.length).toBeLessThanOrEqual(MOST_REQUESTS);
  expect(asked).not.toContain("Scan");
  expect(answer.text).not.toContain(SECRET);
  return answer;
}

const optionsOf = (operation: string, agoMs = 0) => ({
  operation,
  store: world.store,
  clock: fakeClock(Date.now() - agoMs),
  leaseSeconds: 30,
  renewLease: false,
});

/** An attempt that died an hour ago while it worked. */
async function killed(
  operation: string,
  whenAbandoned: "run" | "hold" = "run",
  agoMs = HOUR_MS,
): Promise<string> {
  const key = randomUUID();
  await new Promise<void>((died) => {
    void runOnce({ ...optionsOf(operation, agoMs), whenAbandoned }, key, { SECRET }, () => {
      died();
      return new Promise<never>(() => {});
    });
  });
  return key;
}

async function committed(
  operation: string,
  queue: string,
  key: string = randomUUID(),
): Promise<ListedCommit> {
  await runOnce(optionsOf(operation), key, {}, ({ commit }) =>
    commit({ SECRET }, { messages: [{ queue, key: `${key}/message`, body: { SECRET } }] }),
  );
  for await (const each of world.outbox.list("waiting"))
    if (each.recordKey.startsWith(operation)) return each;
  throw new Error("the commit does not wait");
}

describe("an incident is answered by one command", { timeout: 30_000 }, () => {
  it("1. was the order charged twice? trace: once, by the second attempt", async () => {
    const key = await killed("charge");
    await runOnce(optionsOf("charge"), key, { SECRET }, () => ({ SECRET }));
    await runOnce(optionsOf("charge"), key, { SECRET }, () => "never");

    const { status, text } = await onceonly("trace", key, "-o", "charge");

    expect(status).toBe(0);
    expect(text).toMatch(/^charge#\S+\ncompleted, attempt 2\n/);
    expect(text).toMatch(/attempt 1: over\. Any further writes are refused/);
  });

  it("2. a stuck key: find says since when nobody has worked on it", async () => {
    const key = await killed("stuck");

    const { text } = await onceonly("find", key, "-o", "stuck");

    expect(text).toMatch(/in-progress, attempt 1\n.*lease ended .*\((59|60) min ago\): abandoned/s);
  });

  it("3. a held saga: trace names the step of which nobody knows", async () => {
    const key = randomUUID();
    const forever = () => new Promise<never>(() => {});
    const undo = () => undefined;
    await new Promise<void>((died) => {
      const charge = () => {
        died();
        return forever();
      };
      const place = saga<object>("place", [
        { name: "order", run: () => ({ SECRET }), compensate: undo },
        { name: "charge", run: charge, compensate: undo, atMostOnce: true },
      ]);
      const options = { ...optionsOf("place", HOUR_MS), whenAbandoned: "hold" as const };
      void runOnce(options, key, {}, (execution) => place.run(execution, {}));
    });

    const { text } = await onceonly("trace", key, "-o", "place");

    expect(text).toMatch(/charge: begun, outcome unknown/);
  });

  it("4. a poisonous message: trace finds it among the dead letters", async () => {
    const pair = await queues.newPair();
    const key = randomUUID();
    await committed("poison", pair.queue, key);
    const message = {
      QueueUrl: pair.queue,
      MessageBody: SECRET,
      MessageAttributes: writeEnvelope({ key: `${key}/message` }),
    };
    await queues.client.send(new SendMessageCommand(message));
    for (let receive = 0; receive < 2; receive++)
      await queues.client.send(new ReceiveMessageCommand({ QueueUrl: pair.queue, VisibilityTimeout: 0 }));

    const { text } = await onceonly("trace", key, "-o", "poison", "--queue", pair.queue);

    expect(text).toMatch(/its message is here: .*received \d+ times/);
  });

  it("5. a dead destination: list tells how many commits it holds up, and why", async () => {
    const { commit } = await committed("dead", GONE);
    const parked = { state: "parked", tries: 50, at: Date.now(), code: "QueueDoesNotExist" } as const;
    await world.outbox.keep(commit!, [parked], Date.now());

    const { text } = await onceonly("list", "parked");

    expect(text).toMatch(/^dead: parked, to .*gone, QueueDoesNotExist \(1\)/m);
  });

  it("6. a lost stream: list tells the commits that nobody has tried to send", async () => {
    const { recordKey } = await committed("lost", GONE);

    const { text } = await onceonly("list", "waiting");

    expect(text).toMatch(/^lost: waiting, to .*gone/m);
    expect(text).toContain(recordKey);
  });

  it("7. a storm of mismatches: find says that the first request stands, and ran once", async () => {
    const key = randomUUID();
    await runOnce(optionsOf("mismatch"), key, { amount: 1 }, () => ({ SECRET }));
    for (let amount = 2; amount < 30; amount++)
      await runOnce(optionsOf("mismatch"), key, { amount }, () => "never").catch(() => undefined);

    const { text } = await onceonly("find", key, "-o", "mismatch");

    expect(text).toMatch(/completed, attempt 1\n/);
  });

  it("8. a clock that is ahead: find shows a claim from the future", async () => {
    const key = await killed("ahead", "run", -2 * HOUR_MS);

    const { text } = await onceonly("find", key, "-o", "ahead");

    expect(text).toMatch(/first claimed .*\(in 120 min\)/);
  });

  it("9. a restored table: find says that it knows nothing of the key", async () => {
    const key = randomUUID();
    await runOnce(optionsOf("restored"), key, {}, () => ({ SECRET }));
    const { recordKey } = identify("restored", PUBLIC_SCOPE, key);
    await world.client.send(
      new DeleteItemCommand({ TableName: world.tableName, Key: { pk: { S: recordKey } } }),
    );

    const { status, text } = await onceonly("find", key, "-o", "restored");

    expect(status).toBe(1);
    expect(text).toMatch(/no record: nothing ran under this operation and key without a scope/);
  });

  it("10. a wrong deployment: replay says that no crash of this handler leaves such a record", async () => {
    const key = randomUUID();
    await new Promise<void>((died) => {
      const options = { ...optionsOf("book", HOUR_MS), whenAbandoned: "hold" as const };
      void runOnce(options, key, {}, async ({ step }) => {
        await step("reserve", () => ({ SECRET }));
        died();
        return new Promise<never>(() => {});
      });
    });
    const handler = fileURLToPath(new URL("replayed-given.ts", import.meta.url));

    const { status, text } = await onceonly("replay", key, "-o", "book", "--handler", handler);

    expect(status).toBe(1);
    expect(text).toMatch(
      /step reserve done\nnone of \d+ crashes leaves such a record: .* was a different version/,
    );
  });

  it("11. an expired key: find says until when it was honoured", async () => {
    const key = randomUUID();
    await runOnce({ ...optionsOf("expired", 48 * HOUR_MS) }, key, {}, () => ({ SECRET }));

    const { text } = await onceonly("find", key, "-o", "expired");

    expect(text).toMatch(/kept until .*\((23|24) h ago\)/);
  });

  it("12. an erased person: erase drops the answer, and says that the fact stays", async () => {
    const key = randomUUID();
    await runOnce(optionsOf("person"), key, {}, () => ({ SECRET }));

    const args = ["erase", key, "-o", "person", "--by", "privacy-desk", "--why", "asked to", "--yes"];
    const { status } = await onceonly(...args);

    const { recordKey } = identify("person", PUBLIC_SCOPE, key);
    const record = await world.store.find(recordKey, { consistent: true });
    expect(status).toBe(0);
    expect(record).toMatchObject({ state: "completed", result: { in: "record", text: "not kept" } });
  });
});
