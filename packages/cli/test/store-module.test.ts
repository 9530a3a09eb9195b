// The command line over a store that a module exports: PostgreSQL, and one without an outbox.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { OutcomeUnknownError } from "../../../lib/core/errors.ts";
import { runOnce } from "../../../lib/core/run-once.ts";
import { fromPg } from "../../../lib/postgres/from-pg.ts";
import { PostgresOutbox } from "../../../lib/postgres/postgres-outbox.ts";
import type { PostgresStore } from "../../../lib/postgres/postgres-store.ts";
import { hasServer, poolOf, portOf, storeOf } from "../../../test/postgres/given.ts";
import memory, { closed } from "./memory-store-given.ts";
import given from "./store-given.ts";
import { runAlone } from "./world.ts";

const MODULE = "packages/cli/test/store-given.ts";
const WITHOUT_OUTBOX = "packages/cli/test/memory-store-given.ts";
const BY = ["--by", "ana", "--why", "request 12", "--yes"];
const never = () => expect.unreachable("it ran again");

describe.skipIf(!hasServer)("a store on PostgreSQL", () => {
  let store: PostgresStore;
  const run = (name: string, ...args: string[]) => runAlone(name, [...args, "--store", MODULE]);
  const options = () => ({ operation: "pay", store, leaseSeconds: 30 });

  beforeAll(async () => {
    const client = fromPg(poolOf(await portOf()));
    let table: string;
    ({ store, table } = await storeOf(client));
    Object.assign(given, { store, outbox: new PostgresOutbox({ client, table }) });
  });

  const held = async () => {
    const key = randomUUID();
    const unclear = () => Promise.reject(new OutcomeUnknownError());
    await runOnce({ ...options(), whenAbandoned: "hold" }, key, {}, unclear).catch(() => {});
    return key;
  };

  it("H39: is found, listed, resolved, released and erased by the same commands", async () => {
    const [resolved, released] = [await held(), await held()];
    expect((await run("list", "unknown")).text).toContain("pay: held (2)");
    expect((await run("find", resolved, "-o", "pay")).text).toContain("held, attempt 1");

    expect(await run("resolve", resolved, "-o", "pay", "--happened", '"canary"', ...BY)).toMatchObject({
      status: 0,
    });
    expect(await run("release", released, "-o", "pay", ...BY)).toMatchObject({ status: 0 });
    expect(await runOnce(options(), resolved, {}, never)).toBe("canary");
    expect(await runOnce(options(), released, {}, () => "anew")).toBe("anew");

    expect(await run("erase", resolved, "-o", "pay", ...BY)).toMatchObject({ status: 0, text: "erased" });
    await expect(runOnce(options(), resolved, {}, never)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
    expect((await run("trace", resolved, "-o", "pay")).text).toContain("the result isn't kept");
  });

  it("has a group resolved, and messages that wait dropped", async () => {
    const keys = [await held(), await held()];
    const group = await run("resolve", "--group", "pay", "--did-not-happen", ...BY);
    expect(group.text).toContain("changed 2 of 2");
    for (const key of keys) expect(await runOnce(options(), key, {}, () => "anew")).toBe("anew");

    const queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";
    await runOnce(options(), randomUUID(), {}, ({ commit }) =>
      commit("done", { messages: [{ queue, key: "order-7", body: {} }] }),
    );
    const { text } = await run("list", "waiting", "--json");
    const { recordKey } = JSON.parse(text);
    expect(await run("outbox", "drop", recordKey, "--message", "0", ...BY)).toMatchObject({ status: 0 });
    expect((await run("list", "waiting")).text).toBe("nothing found");
  });

  it("shows of a decision about messages in a dry run who decides, and no body", async () => {
    const body = { card: "canary" };
    const queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments";
    await runOnce(options(), randomUUID(), {}, ({ commit }) =>
      commit("done", { messages: [{ queue, key: "order-7", body }] }),
    );
    const { recordKey } = JSON.parse((await run("list", "waiting", "--json")).text);
    const by = ["--by", "ana", "--why", "the queue is back"];

    const { text } = await run("outbox", "retry", recordKey, "--dry-run", "--json", ...by);

    expect(JSON.parse(text).requests).toEqual([
      { operation: "sendAgain", input: { recordKey, by: "ana", why: "the queue is back" } },
    ]);
    await run("outbox", "drop", recordKey, "--message", "0", ...BY);
  });

  it("writes nothing in a dry run, and lists the moves that it would have made", async () => {
    const key = await held();

    const { text } = await run("release", key, "-o", "pay", "--dry-run", "--by", "ana", "--why", "r");

    expect(text).toMatch(/^claim \{[\s\S]*^settle \{[\s\S]*^dry run: nothing was written$/m);
    expect((await run("find", key, "-o", "pay")).text).toContain("held, attempt 1");
  });
});

describe("a store without an outbox", () => {
  const run = (name: string, ...args: string[]) => runAlone(name, [...args, "--store", WITHOUT_OUTBOX]);

  it("is read, reports that it has no outbox, and is closed", async () => {
    const key = randomUUID();
    await runOnce({ operation: "pay", store: memory.store, leaseSeconds: 30 }, key, {}, () => "done");
    const before = closed.times;

    expect((await run("find", key, "-o", "pay")).text).toContain("completed, attempt 1");
    await expect(run("list", "waiting")).rejects.toThrow("the module doesn't export an outbox");

    expect(closed.times).toBe(before + 2);
  });

  it.each([
    [["list", "completed", "--scan", "--yes"], "a scan only reads DynamoDB tables"],
    [["list", "unknown", "--table", "t"], "--table can't be combined with --store"],
    [["list", "unknown", "--region", "eu-central-1"], "--region can't be combined with --store"],
  ])("refuses %j", async ([name = "", ...args], message) => {
    await expect(run(name, ...args)).rejects.toThrow(message);
  });

  it("refuses a module without a store", async () => {
    const run = runAlone("list", ["unknown", "--store", "packages/cli/test/world.ts"]);
    await expect(run).rejects.toThrow("doesn't export a store by default");
  });
});
