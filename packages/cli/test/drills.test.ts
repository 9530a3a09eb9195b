// Incidents on local engines. Twelve questions, each answered by one command of the real command line: quickly, without a scan, and
// without a payload. Then incidents that an operator brings to an end, with the commands of the alarm's section in the runbook alone.
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { DeleteItemCommand } from "@aws-sdk/client-dynamodb";
import { ReceiveMessageCommand, SendMessageCommand } from "@aws-sdk/client-sqs";
import {
  httpIdempotent,
  OutcomeUnknownError,
  PermanentError,
  runOnce,
  saga,
  type WithIdempotency,
} from "onceonly";
import { outboxSweeper } from "onceonly/messaging";
import { fakeClock } from "onceonly/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it } from "vitest";
import { identify, PUBLIC_SCOPE } from "../../../lib/core/identity.ts";
import type { ListedCommit } from "../../../lib/core/messages/operated-outbox.ts";
import { writeEnvelope } from "../../../lib/messaging/sqs-and-sns.ts";
import { root } from "../../../test/kit/project.ts";
import { type FaultProxy, startFaultProxy } from "../../local/lib/fault-proxy.ts";
import { COMMANDS, runCommand, type Terminal } from "../lib/commands.ts";
import { startQueues } from "./queue-given.ts";
import { newWorld, type World } from "./world.ts";

const runbook = readFileSync(new URL("../../../docs/operate/runbook.md", import.meta.url), "utf8");

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

  it("2. a stuck key: find shows since when no attempt has worked on it", async () => {
    const key = await killed("stuck");

    const { text } = await onceonly("find", key, "-o", "stuck");

    expect(text).toMatch(/in-progress, attempt 1\n.*lease ended .*\((59|60) min ago\): abandoned/s);
  });

  it("3. a held saga: trace names the step whose outcome is unknown", async () => {
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

  it("5. a dead destination: list shows how many commits it holds up, and why", async () => {
    const { commit } = await committed("dead", GONE);
    const parked = { state: "parked", tries: 50, at: Date.now(), code: "QueueDoesNotExist" } as const;
    await world.outbox.keep(commit!, [parked], Date.now());

    const { text } = await onceonly("list", "parked");

    expect(text).toMatch(/^dead: parked, to .*gone, QueueDoesNotExist \(1\)/m);
  });

  it("6. a lost stream: list shows the commits that no relay has tried to send", async () => {
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

// One incident of the list isn't here, because what it needs isn't built: a bad deployment that a fork repairs.
describe("an incident is brought to an end with the commands of its section in the runbook", {
  timeout: 60_000,
}, () => {
  /** Another system, which knows each effect by the child key that it was asked with. */
  class Provider {
    readonly effects = new Map<string, string>();
    asked = 0;

    /** Like most payment providers: the same key has the same charge. */
    charge(key: string): string {
      this.asked++;
      const known = this.effects.get(key) ?? `ch_${this.effects.size + 1}`;
      this.effects.set(key, known);
      return known;
    }
  }

  let own: World;
  let provider: Provider;
  beforeEach(async () => {
    own = await newWorld();
    provider = new Provider();
  });

  const optionsIn = (operation: string) => ({
    ...{ operation, store: own.store, clock: own.clock, leaseSeconds: 30, renewLease: false },
    whenAbandoned: "hold" as const,
  });
  const unanswered = () => {
    throw new OutcomeUnknownError();
  };
  /** A call that an alarm would be about, and one that a caller repeats. */
  const quietly = (call: Promise<unknown>) => call.catch(() => undefined);

  it("H90: 1. held, and the charge happened: every caller gets it, and it's charged once", async () => {
    const drill = beginDrill(own, "held");
    const event = {
      ...{ version: "2.0", rawPath: "/pay", body: "{}", headers: { "idempotency-key": randomUUID() } },
      requestContext: { http: { method: "POST" } },
    };
    const pay = httpIdempotent(
      (_event: unknown, { idempotency }: WithIdempotency) => {
        provider.charge(idempotency.childKey("charge"));
        return unanswered();
      },
      { ...optionsIn("pay"), scope: "public" },
    );
    const call = () => pay(event as never, {} as never) as Promise<{ statusCode: number; body: string }>;
    expect((await call()).statusCode).toBe(409);

    const recordKey = await drill.listedKey("pay");
    const found = await drill.run("find --child", { "<record key>": recordKey, "<name>": "charge" });
    expect(provider.effects.get(childIn(found))).toBe("ch_1");
    await drill.run("resolve --status", { "<record key>": recordKey });

    expect(await call()).toMatchObject({ statusCode: 201, body: '{"id":"ch_1"}' });
    expect(provider.asked).toBe(1);
    drill.end();
  });

  const charging = (key: string, operation: string, fails: () => unknown = () => undefined) =>
    runOnce(optionsIn(operation), key, {}, ({ childKey }) => {
      fails();
      return { charge: provider.charge(childKey("charge")) };
    });

  it("H90: 2. held, and the charge didn't happen: a retry charges once", async () => {
    const drill = beginDrill(own, "held");
    const key = randomUUID();
    await quietly(charging(key, "charge", unanswered));

    const recordKey = await drill.listedKey("charge");
    const found = await drill.run("find --child", { "<record key>": recordKey, "<name>": "charge" });
    expect(provider.effects.get(childIn(found))).toBeUndefined();
    await drill.run("resolve --did-not-happen", { "<record key>": recordKey });

    expect(await charging(key, "charge")).toEqual({ charge: "ch_1" });
    expect(provider.asked).toBe(1);
    drill.end();
  });

  it("H90: 3. a wrong decision: corrected on purpose, with both in the record, and charged once", async () => {
    const drill = beginDrill(own, "held");
    const key = randomUUID();
    await quietly(charging(key, "charge", unanswered));
    const recordKey = await drill.listedKey("charge");
    await drill.run("resolve --happened", { "<record key>": recordKey });
    expect(await charging(key, "charge")).toEqual({ charge: "ch_1" });
    expect(provider.asked).toBe(0);

    const warned = await drill.run("resolve --even-though-answered", { "<record key>": recordKey });
    const found = await drill.run("find --child", { "<record key>": recordKey, "<name>": "charge" });

    expect(warned).toContain("callers may already have received the former answer");
    expect(found).toMatch(/did-not-happen, by ana.*before that: happened, completed, by ana/s);
    expect(await charging(key, "charge")).toEqual({ charge: "ch_1" });
    expect(provider.asked).toBe(1);
    drill.end();
  });

  it("H90: 4. a saga that stopped in a compensation: refunded by hand, once, and the saga ends", async () => {
    const drill = beginDrill(own, "unsettled-age");
    const key = randomUUID();
    const refunds: string[] = [];
    const place = saga<object>("place", [
      {
        name: "charge",
        run: ({ childKey }) => provider.charge(childKey()),
        compensate: () => Promise.reject(new Error("the provider is down")),
      },
      {
        name: "ship",
        run: () => Promise.reject(new PermanentError("sold out")),
        compensate: () => undefined,
      },
    ]);
    const call = () => runOnce(optionsIn("place"), key, {}, (execution) => place.run(execution, {}));
    await expect(call()).rejects.toThrow();

    const recordKey = await drill.listedKey("place");
    const traced = await drill.run("trace", { "<record key>": recordKey });
    const [, step] = /(\S+\/compensate): begun/.exec(traced)!;
    refunds.push("by hand");
    await drill.run("resolve --step", { "<record key>": recordKey, "<step>": `place/${step}` });

    await expect(call()).rejects.toMatchObject({ name: "SagaCompensatedError" });
    expect(provider.asked).toBe(1);
    expect(refunds).toHaveLength(1);
    drill.end();
  });

  async function parked(operation: string, queue: string): Promise<string> {
    const key = randomUUID();
    await runOnce(optionsIn(operation), key, {}, ({ commit }) =>
      commit("done", { messages: [{ queue, key: `${key}/message`, body: { order: 7 } }] }),
    );
    const { recordKey } = identify(operation, PUBLIC_SCOPE, key);
    const commit = (await own.outbox.load(recordKey))!;
    const progress = { state: "parked", tries: 50, at: own.clock.now(), code: "QueueDoesNotExist" } as const;
    await own.outbox.keep(commit, [progress], own.clock.now());
    return recordKey;
  }

  async function sweep() {
    await own.clock.advance(120_000);
    await outboxSweeper({ outbox: own.outbox, clock: own.clock, sqs: queues.client, destinations: "any" })();
  }

  async function received(QueueUrl: string): Promise<number> {
    const { Messages = [] } = await queues.client.send(
      new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }),
    );
    return Messages.length;
  }

  it("H90: 5. a dead destination: it's back, and its messages arrive once", async () => {
    const drill = beginDrill(own, "outbox-parked");
    const { queue } = await queues.newPair();
    await parked("order", queue);

    // The alarm's log line has the operation and the code.
    await drill.run("outbox retry", { "<operation>": "order", "<code>": "QueueDoesNotExist" });

    await sweep();
    expect(await received(queue)).toBe(1);
    drill.end();
  });

  it("H90: 6. a parked poison message: redirected to a queue that can take it, or dropped", async () => {
    const drill = beginDrill(own, "outbox-parked");
    const [old, other] = [await queues.newPair(), await queues.newPair()];
    const [moved, dropped] = [await parked("order", old.queue), await parked("order", old.queue)];

    await drill.run("outbox redirect", { "<record key>": moved, "<queue URL>": other.queue });
    await drill.run("outbox drop", { "<record key>": dropped });

    await sweep();
    expect([await received(old.queue), await received(other.queue)]).toEqual([0, 1]);
    drill.end();
  });

  it("H90: 6. a parked poison message: edited, and sent once under another key", async () => {
    const drill = beginDrill(own, "outbox-parked");
    const { queue } = await queues.newPair();
    const recordKey = await parked("order", queue);
    const file = join(await mkdtemp(join(tmpdir(), "onceonly-drill-")), "body.json");
    await writeFile(file, '{"amount":1}');

    const shown = await drill.run("outbox list --show-body", { "<record key>": recordKey });
    await drill.run("outbox edit", { "<record key>": recordKey, "<file>": file });

    await sweep();
    expect(shown).toContain("message 0, key ");
    expect(await received(queue)).toBe(1);
    drill.end();
  });

  it("H90: 7. a lease that outlives its crashed process: released, and the effect happens once", async () => {
    const drill = beginDrill(own, "in-progress-age");
    const key = randomUUID();
    const long = { ...optionsIn("slow"), leaseSeconds: 3600 };
    await new Promise<void>((died) => {
      void runOnce(long, key, {}, () => {
        died();
        return new Promise<never>(() => {});
      });
    });
    const call = () => runOnce(long, key, {}, ({ childKey }) => provider.charge(childKey("charge")));
    await expect(call()).rejects.toMatchObject({ code: "EXECUTION_IN_PROGRESS" });

    const named = { "<key>": key, "<operation>": "slow" };
    const found = await drill.run("find --child", { ...named, "<name>": "charge" });
    expect(found).toMatch(/lease ends .*in \d+ min/);
    expect(provider.effects.get(childIn(found))).toBeUndefined();
    await drill.run("release --interrupt", named);

    expect(await call()).toBe("ch_1");
    expect(provider.asked).toBe(1);
    drill.end();
  });

  it("H90: 8. a final error whose cause is gone: it runs again, and the message's work is done once", async () => {
    const drill = beginDrill(own, "dead-letters");
    const { queue, dlq } = await queues.newPair();
    const key = randomUUID();
    let isThere = false;
    const consume = () =>
      runOnce(optionsIn("consume"), key, {}, ({ childKey }) => {
        if (!isThere) throw new PermanentError("no such account");
        return provider.charge(childKey("charge"));
      });
    await quietly(consume());
    const message = { MessageBody: "{}", MessageAttributes: writeEnvelope({ key }) };
    await queues.client.send(new SendMessageCommand({ QueueUrl: queue, ...message }));
    for (let receive = 0; receive < 2; receive++)
      await queues.client.send(new ReceiveMessageCommand({ QueueUrl: queue, VisibilityTimeout: 0 }));
    isThere = true;
    await quietly(consume());
    expect(provider.asked).toBe(0);

    const { recordKey } = identify("consume", PUBLIC_SCOPE, key);
    expect(await drill.run("find", { "<record key>": recordKey })).toContain("failed, attempt 1");
    await drill.run("rerun", { "<record key>": recordKey });
    await drill.run("redrive", { "<queue URL>": dlq });

    expect(await received(queue)).toBe(1);
    expect([await consume(), await consume()]).toEqual(["ch_1", "ch_1"]);
    expect(provider.asked).toBe(1);
    drill.end();
  });

  it("H90: 9. a person wants to be forgotten: their answers go, their effects stay, and no other owner's answers go", async () => {
    const drill = beginDrill(own, "A person wants to be forgotten");
    const call = (scope: string, operation: string) =>
      runOnce({ ...optionsIn(operation), scope }, "order-1", {}, ({ childKey }) =>
        provider.charge(childKey("charge")),
      );
    for (const [scope, operation] of [
      ["acme", "order"],
      ["acme", "charge"],
      ["umbrella", "order"],
    ] as const)
      await call(scope, operation);

    expect(await drill.run("erase --scan", { "<scope>": "acme" })).toContain("changed 2 of 2");

    for (const operation of ["order", "charge"])
      await expect(call("acme", operation)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    expect(await call("umbrella", "order")).toBe("ch_3");
    expect(provider.asked).toBe(3);
    drill.end();
  });

  it("H90: 10. a client that makes a new key each time: seen by its records, and ended by a key from the payload", async () => {
    const drill = beginDrill(own, "new-keys");
    const order = { id: "order-7" };
    const pay = (key: string) =>
      runOnce(optionsIn("pay"), key, order, ({ childKey }) => provider.charge(childKey("charge")));
    const made = [randomUUID(), randomUUID()];
    for (const key of made) await pay(key);
    expect(provider.effects.size).toBe(2);

    for (const key of made) {
      const { recordKey } = identify("pay", PUBLIC_SCOPE, key);
      expect(await drill.run("find", { "<record key>": recordKey })).toContain("completed, attempt 1");
    }

    for (let tries = 0; tries < 3; tries++) await pay(order.id);
    expect(provider.effects.size).toBe(3);
    drill.end();
  });

  it("H90: 11. a restored table: the child key finds the effect, and the next call has it no second time", async () => {
    const drill = beginDrill(own, "The table was restored");
    const key = randomUUID();
    const call = () =>
      runOnce({ ...optionsIn("charge"), scope: "acme" }, key, {}, ({ childKey }) =>
        provider.charge(childKey("charge")),
      );
    await call();
    const { recordKey } = identify("charge", "acme", key);
    await own.client.send(new DeleteItemCommand({ TableName: own.tableName, Key: { pk: { S: recordKey } } }));

    const named = { "<key>": key, "<operation>": "charge", "<scope>": "acme", "<name>": "charge" };
    const found = await drill.run("find --child", named, 1);

    expect(found).toContain("no record");
    expect(provider.effects.get(childIn(found))).toBe("ch_1");
    expect(await call()).toBe("ch_1");
    expect(provider.effects.size).toBe(1);
    drill.end();
  });

  it("H90: 12. a bad deployment: repaired by a fork, with one effect of each step", async () => {
    const drill = beginDrill(own, "A deployment did the wrong thing");
    const key = randomUUID();
    const order = (of: string, quote: string) =>
      runOnce({ ...optionsIn("order"), whenAbandoned: "run" }, of, { SECRET }, async ({ step, childKey }) => {
        const reserved = await step("reserve", () => provider.charge(childKey("reserve")));
        await own.clock.advance(1);
        const quoted = await step("quote", () => quote);
        if (quoted === "NaN") throw new Error("no such price");
        return `${reserved} ${quoted} ${await step("ship", () => provider.charge(childKey("ship")))}`;
      });
    await quietly(order(key, "NaN"));
    // The fixed deployment resumes after the wrong quote.
    await expect(order(key, "7")).rejects.toThrow("no such price");

    const { recordKey } = identify("order", PUBLIC_SCOPE, key);
    const named = { "<record key>": recordKey, "<new key>": `${key}-repaired` };
    expect(await drill.run("fork", named, 1)).toContain("the first step that runs again: reserve, quote");
    const forked = await drill.run("fork --from", { ...named, "<step>": "quote" });

    expect(forked).toContain("copied: reserve\nruns again: quote, and everything after");
    expect(forked).toContain(`next: run order again with the same input and the key ${key}-repaired`);
    expect(await order(`${key}-repaired`, "7")).toBe("ch_1 7 ch_2");
    await expect(order(key, "7")).rejects.toMatchObject({ name: "ForkedError" });
    expect([provider.asked, provider.effects.size]).toEqual([2, 2]);
    for (const of of [key, `${key}-repaired`])
      expect((await own.run("find", [of, "-o", "order"])).text).toContain(
        "forked by ana: release 7 quoted wrongly",
      );
    drill.end();
  });
});

const MOST_COMMANDS = 5;

/** Commands of the runbook's section, as an operator copies them: placeholders are filled in, and a question is answered with yes. */
function beginDrill({ tableName, clock }: World, section: string) {
  const shown = commandsIn(section);
  let commands = 0;
  let requests = 0;
  asked = [];

  async function run(what: string, given: Readonly<Record<string, string>>, expected = 0): Promise<string> {
    const words = what.split(" ");
    const command = shown.find((each) => words.every((word) => each.includes(word)));
    if (!command) throw new Error(`the section ${section} shows no command with ${what}`);
    const filled = command.map((word) =>
      word.replace(/<[^>]+>/g, (placeholder) => {
        const value = placeholder === "<table>" ? tableName : given[placeholder];
        if (value === undefined) throw new Error(`the drill has no value for ${placeholder}`);
        return value;
      }),
    );
    const [name = "", ...args] = filled;
    // A queue's URL is an address itself.
    const place = command.includes("-t") ? ["--endpoint", proxy.endpoint] : [];
    const lines: string[] = [];
    const terminal: Terminal = {
      ...{ print: (line) => lines.push(line), clock, env: {}, confirm: async () => true },
    };
    asked = [];
    const status = await runCommand(COMMANDS[name]!, [...args, ...place], terminal);
    expect({ status, text: lines.join("\n") }).toMatchObject({ status: expected });
    commands++;
    requests += asked.length;
    return lines.join("\n");
  }

  return {
    run,
    /** The record key that `list unknown` prints. */
    async listedKey(operation: string): Promise<string> {
      await clock.advance(60_000);
      const text = await run("list unknown", {});
      return new RegExp(`^ +(${operation}#\\S+)`, "m").exec(text)![1]!;
    },
    end() {
      expect(commands).toBeLessThanOrEqual(MOST_COMMANDS);
      expect(requests).toBeLessThanOrEqual(MOST_REQUESTS);
    },
  };
}

const childIn = (text: string): string => /^child key \S+: (\S+)$/m.exec(text)![1]!;

/** Each command in a section of the runbook, as words. A section is an alarm's, or begins with a sentence. */
function commandsIn(section: string): readonly (readonly string[])[] {
  const alarm = runbook.split(/^## /m).find((part) => part.startsWith(`${section}\n`));
  const begin = runbook.indexOf(section);
  const text = alarm ?? runbook.slice(begin, runbook.indexOf("\n```\n", begin));
  const lines = [...text.matchAll(/^npx --no onceonly (.*)$/gm)].map(([, line]) => line!);
  return lines.map((line) =>
    [...line.matchAll(/'([^']*)'|"([^"]*)"|((?:<[^>]+>|[^\s<])+)/g)].map(
      ([, single, double, plain]) => single ?? double ?? plain!,
    ),
  );
}
