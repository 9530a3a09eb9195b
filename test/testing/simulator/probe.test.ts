import { setInterval as ticks, setTimeout as sleep } from "node:timers/promises";
import { DynamoDBClient, PutItemCommand } from "@aws-sdk/client-dynamodb";
import { SQS } from "@aws-sdk/client-sqs";
import { describe, expect, it, vi } from "vitest";
import { Simulator } from "../../../lib/testing/simulator/simulator.ts";
import { effect, givenAws, rowsOf } from "./given.ts";

const START = 1_700_000_000_000;
const sqs = new SQS();

describe("pool", () => {
  it("uses no environment that died after it answered", async () => {
    const aws = new Simulator();
    let n = 0;
    const fn = aws.lambda(() => {
      if (n++ === 0) void Promise.reject(new Error("nobody waits"));
      return "done";
    });
    const r = await aws.run(async () => [await fn.invoke({}), await fn.invoke({})]);
    console.log(r, aws.traceText());
    expect(r[1]).toMatchObject({ outcome: "returned" });
    expect(r[1]?.hostId).not.toBe(r[0]?.hostId);
  });
  it("dead: io after", async () => {
    const aws = givenAws();
    let n = 0;
    const fn = aws.lambda(async () => {
      if (n++ === 0) void Promise.reject(new Error("nobody waits"));
      else await effect("x");
      return "done";
    });
    const r = await aws.run(async () => [await fn.invoke({}), await fn.invoke({})]);
    expect(r[1]).toMatchObject({ outcome: "returned" });
  });
  it("keeps concurrency under a race", async () => {
    const aws = new Simulator();
    let running = 0, most = 0;
    const fn = aws.lambda(async () => {
      most = Math.max(most, ++running);
      await sleep(100);
      running--;
    }, { concurrency: 1 });
    await aws.run(async () => {
      const first = fn.invoke({}).then(() => fn.invoke({}));
      await Promise.all([first, fn.invoke({}), fn.invoke({}).then(() => fn.invoke({}))]);
    });
    expect(most).toBe(1);
  });
  it("takes undefined as event", async () => {
    const aws = new Simulator();
    const fn = aws.lambda((event) => event);
    console.log(await aws.run(() => fn.invoke(undefined)));
  });
  it("uncaught exceptions in immediates", async () => {
    const aws = new Simulator();
    const fn = aws.lambda(async (how) => {
      if (how === "immediate") setImmediate(() => { throw new Error("i") });
      if (how === "tick") process.nextTick(() => { throw new Error("t") });
      if (how === "micro") queueMicrotask(() => { throw new Error("m") });
      await sleep(10);
      return "x";
    });
    for (const how of ["immediate", "tick", "micro"])
      console.log(await aws.run(() => fn.invoke(how)));
  });
  it("an idle environment that a fault holds is not used", async () => {
    const aws = givenAws();
    aws.faults = (io) => io.number === 1 ? { kind: "freeze", when: "before", ms: 10_000 } : undefined;
    let n = 0;
    const fn = aws.lambda(async () => {
      if (n++ === 0) { void effect("late").catch(() => 0); await Promise.resolve(); return 1; }
      await effect("two");
      return 2;
    });
    const r = await aws.run(async () => {
      const a = await fn.invoke({});
      await sleep(1000);
      return [a, await fn.invoke({})];
    });
    console.log(r, aws.traceText());
  });
});

describe("queue", () => {
  it("hands a message that takes longer than its visibility to another", async () => {
    const aws = new Simulator();
    const QueueUrl = aws.queue("work", { visibilitySeconds: 10 });
    const seen: number[] = [];
    const fn = aws.lambda(async () => {
      seen.push(Math.round((Date.now() - START) / 1000));
      await sleep(25_000);
    });
    aws.connectQueue(fn, { queueUrl: QueueUrl });
    await aws.run(async () => {
      await sqs.sendMessage({ QueueUrl, MessageBody: "a" });
      await aws.untilIdle();
    });
    console.log(seen);
    expect(seen.slice(0, 2)).toEqual([0, 10]);
  });
});

describe("run", () => {
  it("fails by what nobody waited for, also at the very end", async () => {
    const aws = new Simulator();
    await expect(aws.run(() => { void Promise.reject(new Error("lost")); return 1; })).rejects.toThrow("lost");
  });
  it("nested in another's", async () => {
    const a = new Simulator(), b = new Simulator();
    console.log("nested", await a.run(() => b.run(() => sleep(1000).then(() => Date.now() - START))).catch(String));
  });
  it("table made in run", async () => {
    const a = new Simulator();
    console.log("in run", await a.run(() => { a.table("t1", { partitionKey: "id" }); a.table("t1", { partitionKey: "id" }); }).catch(String));
    const b = new Simulator();
    b.table("t1", { partitionKey: "id" }); b.table("t1", { partitionKey: "id" });
    console.log("twice", await b.run(() => 1).catch(String));
    const c = new Simulator();
    c.queue("t1"); c.queue("t1");
    console.log("twice q", await c.run(() => 1).catch(String));
    const d = new Simulator();
    d.queue("t1"); d.queue("t1", {visibilitySeconds: 3});
    console.log("twice q", await d.run(() => 1).catch(String));
  });
  it("connect to unknown", async () => {
    const a = new Simulator();
    a.connectQueue(a.lambda(() => 1), { queueUrl: "https://sqs.us-east-1.amazonaws.com/000000000000/nope" });
    console.log("queue", await a.run(() => a.untilIdle()).catch(String));
    const b = new Simulator();
    b.connectTable(b.lambda(() => 1), { tableName: "nope" });
    console.log("table", await b.run(() => b.untilIdle()).catch(String));
    for (const o of ["api", "mailto:x@y.z", "https://a.b/v1", ""]) {
      try { b.serve(o, () => new Response()); console.log("serve ok", o); } catch (e) { console.log(String(e)); }
    }
    b.serve("https://a.b", (() => undefined) as never);
    console.log(await b.run(() => b.lambda(() => fetch("https://a.b/")).invoke({})).catch(String));
    b.serve("https://a.b", async (r) => new Response(await r.arrayBuffer()));
    console.log(await b.run(() => b.lambda(async () => { const r = await fetch("https://a.b/", {method: "POST", body: new Uint8Array([1, 255, 254])}); return [...new Uint8Array(await r.arrayBuffer())]; }).invoke({})).catch(String));
    b.faults = (() => ({ kind: "crsh" })) as never;
    console.log(await b.run(() => b.lambda(() => fetch("https://a.b/")).invoke({})).catch(String));
  });
});

describe("timers", () => {
  it("ticks", async () => {
    const aws = new Simulator();
    console.log(await aws.run(async () => {
      const at = [];
      for await (const _ of ticks(50)) { at.push(Date.now() - START); await sleep(30); if (at.length === 4) break; }
      return at;
    }));
    class My extends Date { extra() { return this.getTime(); } }
    console.log(await aws.run(async () => [new My().extra(), structuredClone(new Date()), new My() instanceof Date, Object.prototype.toString.call(new Date()), process.hrtime.bigint(), performance.timeOrigin, Date.name, Date.length, new Intl.DateTimeFormat("en", {dateStyle: "full"}).format()]));
  });
  it("profile", async () => {
    process.env.AWS_PROFILE = "nobody";
    const aws = givenAws();
    const client = new DynamoDBClient();
    console.log(await aws.run(() => aws.lambda(() => client.send(new PutItemCommand({ TableName: "effects", Item: { id: { S: "1" } } })).then(() => 1)).invoke({})));
    delete process.env.AWS_PROFILE;
    console.log(await rowsOf(aws, "effects"));
  });
});
describe("fake timers", () => {
  it("after", async () => {
    const aws = givenAws();
    vi.useFakeTimers();
    try {
      console.log(await Promise.race([aws.run(() => aws.lambda(() => effect("x")).invoke({})).catch(String), new Promise((r) => void import("node:worker_threads").then(() => { const t = new SharedArrayBuffer(4); Atomics.waitAsync?.(new Int32Array(t), 0, 0, 2000).value.then?.(() => r("HANGS")); }))]));
    } finally { vi.useRealTimers(); }
  });
});
