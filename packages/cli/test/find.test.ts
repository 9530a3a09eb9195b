import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { runOnce } from "../../../lib/core/run-once.ts";
import { newWorld, runAlone, type World } from "./world.ts";

const SECRET = "canary-4711";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});

const options = () => ({
  operation: "pay",
  scope: "acme",
  store: world.store,
  clock: world.clock,
  leaseSeconds: 30,
});

describe("onceonly find", () => {
  it("shows the state of a completed key, and its answer only on request", async () => {
    const key = randomUUID();
    await runOnce(options(), key, {}, () => ({ card: SECRET }));

    const { status, text } = await world.run("find", [key, "-o", "pay", "-s", "acme"]);
    const shown = await world.run("find", [key, "-o", "pay", "-s", "acme", "--show-result"]);

    expect(status).toBe(0);
    expect(text).toMatch(/^pay#acme#\S+\ncompleted, attempt 1\n├ first claimed .*\n/);
    expect(text).toContain("the result is in the record");
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(key);
    expect(shown.text).toContain(`{"card":"${SECRET}"}`);
  });

  it("shows the steps of a key that is in progress, and that its lease has ended", async () => {
    const key = randomUUID();
    const held = { ...options(), whenAbandoned: "hold" as const, renewLease: false };
    await new Promise<void>((begun) => {
      void runOnce(held, key, {}, async ({ step }) => {
        await step("reserve", () => "r-1");
        begun();
        await new Promise(() => {});
      });
    });
    await world.clock.advance(40_000);

    const { text } = await world.run("find", [key, "-o", "pay", "-s", "acme"]);
    const json = await world.run("find", [key, "-o", "pay", "-s", "acme", "--json"]);

    expect(text).toContain("in-progress, attempt 1");
    expect(text).toContain("step reserve: done, attempt 1, ");
    expect(text).toMatch(/lease ended .* ago\): abandoned/);
    expect(text).toContain("└ kept until it is settled");
    expect(JSON.parse(json.text)).toMatchObject({
      state: "in-progress",
      steps: [{ name: "reserve", state: "done" }],
    });
  });

  it("shows the waiting messages", async () => {
    const key = randomUUID();
    const queue = "https://sqs.eu-central-1.amazonaws.com/123456789012/payments.fifo";
    await runOnce(options(), key, {}, ({ commit }) =>
      commit("done", { messages: [{ queue, key: "order-7", group: "order-7", body: { card: SECRET } }] }),
    );

    const { text } = await world.run("find", [key, "-o", "pay", "-s", "acme"]);

    expect(text).toMatch(/message 0 to \S*payments\.fifo\S*: waiting, 0 tries/);
    expect(text).not.toContain(SECRET);
  });

  it("reports a missing record, also of another owner, with status 1", async () => {
    const key = randomUUID();
    await runOnce(options(), key, {}, () => "done");

    const { status, text } = await world.run("find", [key, "-o", "pay", "-s", "globex"]);

    expect(status).toBe(1);
    expect(text).toMatch(/^no record: nothing ran under this operation, scope and key/);
  });

  it("41.10: says that a scoped operation needs --scope", async () => {
    const key = randomUUID();
    await runOnce(options(), key, {}, () => "done");

    for (const command of ["find", "trace"]) {
      const { status, text } = await world.run(command, [key, "-o", "pay"]);

      expect(status).toBe(1);
      expect(text).toContain("If the operation has a `scope`, pass the key's owner with --scope");
    }
  });

  it.each([
    [["k"], "--operation is required"],
    [["-o", "pay"], "expected one idempotency key, got 0"],
    [["a", "b", "-o", "pay"], "expected one idempotency key, got 2"],
    [["k", "-o", "pay", "--tabel", "t"], "unknown option --tabel: did you mean --table?"],
    [["k", "-o", "pay", "--sort-key", "record"], "--sort-key must be name=value"],
    [["k", "-o", "pay", "--shards", "many"], "`shards` must be a whole number of shards"],
  ])("refuses %j before any request", async (args, message) => {
    await expect(world.run("find", args)).rejects.toThrow(message);
  });

  it.each(["localhost:8000", "http://", "nonsense"])(
    "rejects the endpoint %s immediately",
    async (endpoint) => {
      const asked = runAlone("find", ["k", "-o", "pay", "-t", "t", "--endpoint", endpoint]);

      await expect(asked).rejects.toThrow("--endpoint must be a URL, such as http://localhost:8000");
    },
  );
});
