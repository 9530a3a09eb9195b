import "../../../../test/kit/shop/environment.ts";
import { readFileSync } from "node:fs";
import { idempotent } from "onceonly";
import { DynamoDBStore, type DynamoDBWrite } from "onceonly/dynamodb";
import { describe, expect, it } from "vitest";
import { InvalidOptionError } from "../../../../lib/core/errors.ts";
import { getOrder, messages, postOrder } from "../../../../test/kit/shop/events.ts";
import { explore } from "../../lib/explorer/explore.ts";
import type { ExploreOptions } from "../../lib/explorer/options.ts";
import type { LambdaHandler } from "../../lib/simulator/simulated-function.ts";
import type { Simulator } from "../../lib/simulator/simulator.ts";
import { gateway, shop } from "./seeded-bugs/control.ts";
import { handler as lockWithoutLease } from "./seeded-bugs/lock-without-lease.ts";
import { mended as naturallyOnce, handler as refusesRepetition } from "./seeded-bugs/refuses-repetition.ts";
import { mended as careful, handler as careless } from "./seeded-bugs/write-outside-commit.ts";

async function callGateway(): Promise<{ statusCode: number }> {
  const answer = await fetch("https://gateway.example.com/charges", { method: "POST" });
  return { statusCode: answer.ok ? 200 : 500 };
}

/** Its key is a number, where the table's is a text. */
const refusedByTable = idempotent<unknown, object, DynamoDBWrite>(
  async (_, { idempotency }) =>
    idempotency.commit(null, { writes: [{ Put: { TableName: "orders", Item: { tenant: "acme", id: 1 } } }] }),
  { operation: "refused", store: new DynamoDBStore({ tableName: "idempotency" }), key: () => "a" },
);

describe("explore", () => {
  it("gives the same report, byte for byte, for the same seed, and another one for another", async () => {
    const textOf = async (seed: number) =>
      String(await explore(careless, postOrder(), { ...shop, seed, only: "2 crash-after" }));

    expect(await textOf(3)).toBe(await textOf(3));
    expect(await textOf(3)).not.toBe(await textOf(4));
  });

  it("names every request of an undisturbed run as a point", async () => {
    const options = { ...shop, name: "create-order", only: "duplicate-afterwards" };
    const report = await explore(careful, postOrder(), options);

    expect(report.points).toEqual([
      { number: 1, label: "dynamodb PutItem idempotency" },
      { number: 2, label: "dynamodb TransactWriteItems idempotency+orders" },
    ]);
    expect(String(report)).toBe(`create-order: 2 I/O points, 3 runs, exactly once
undisturbed: answer 201; 1 item in orders
not compared, because undisturbed runs differ there: id of item orders; body.id of the answer`);
  });

  it("shows the failing run, with the fault marked and what the source did about it", async () => {
    const report = await explore(careless, postOrder(), { ...shop, only: "2 crash-after" });

    const lines = report.findings[0]?.trace.split("\n").map((line) => line.slice(11).trim());
    expect(lines).toEqual([
      "the client → create-order",
      "1 dynamodb PutItem idempotency: ok",
      "2 dynamodb PutItem orders: ok  ◀ crash",
      "the client ← the function crashed",
      "the client → create-order",
      "3 dynamodb PutItem idempotency: ConditionalCheckFailedException",
      "4 dynamodb GetItem idempotency: ok",
      "5 dynamodb GetItem idempotency: ok",
      expect.stringMatching(/^… the same \d more times$/),
      expect.stringMatching(/^the client ← answer 409, Retry-After: \d+$/),
      "the client → create-order",
      expect.stringMatching(/^\d+ dynamodb PutItem idempotency: ConditionalCheckFailedException$/),
      expect.stringMatching(/^\d+ dynamodb GetItem idempotency: ok$/),
      expect.stringMatching(/^\d+ dynamodb GetItem idempotency: ok$/),
      expect.stringMatching(/^… the same \d more times$/),
      expect.stringMatching(/^\d+ dynamodb UpdateItem idempotency: ok$/),
      expect.stringMatching(/^\d+ dynamodb PutItem orders: ok$/),
      expect.stringMatching(/^\d+ dynamodb UpdateItem idempotency: ok$/),
      "the client ← answer 201",
      "the client → create-order",
      expect.stringMatching(/^\d+ dynamodb PutItem idempotency: ConditionalCheckFailedException$/),
      "the client ← answer 201, replayed",
    ]);
  });

  it("reports as docs/guides/testing.md shows it", async () => {
    const page = readFileSync(new URL("../../../../docs/guides/testing.md", import.meta.url), "utf8");

    const report = await explore(careless, postOrder(), { ...shop, name: "create-order" });

    expect(page).toContain(String(report).split("\n\n2. ")[0]);
  });

  it("plays one disturbance alone", async () => {
    const report = await explore(careless, postOrder(), { ...shop, only: "2 crash-after" });

    expect(report.runs).toBe(3);
    expect(report.findings.map(({ id }) => id)).toEqual(["2 crash-after"]);
    await expect(explore(careless, postOrder(), { ...shop, only: "9 flood" })).rejects.toThrow(
      'no disturbance has the id "9 flood": use the id of a finding',
    );
  });

  it("adds runs with two disturbances at depth 2", async () => {
    const [once, twice] = [
      await explore(naturallyOnce, postOrder(), shop),
      await explore(naturallyOnce, postOrder(), { ...shop, depth: 2 }),
    ];

    expect(twice).toBeExactlyOnce();
    expect(twice.runs).toBeGreaterThan(2 * once.runs);
  });

  it("says how much it left out", async () => {
    const done: string[] = [];
    const onProgress = (count: number, total: number) => done.push(`${count}/${total}`);

    const report = await explore(careful, postOrder(), { ...shop, maxRuns: 2, onProgress });

    expect(done).toEqual(["1/2", "2/2"]);
    expect(String(report)).toMatch(/4 runs \(\d+ more left out by maxRuns\), exactly once\n/);
  });

  it("refuses a handler that fails undisturbed, with what it did", async () => {
    const reason = /^handler fails without any disturbance: answer 500: "no stock"\n/;
    const failing = async () => ({ statusCode: 500, body: "no stock" });

    await expect(explore(failing, postOrder(), { name: "handler" })).rejects.toThrow(reason);
    await expect(explore(callGateway, postOrder(), { outside: gateway })).resolves.toBeDefined();
    await expect(explore(callGateway, postOrder())).rejects.toThrow("the client ← the function threw");
    await expect(explore(refusedByTable, {}, shop)).rejects.toThrow("Type mismatch for key id");
  });

  it.each([
    ["tabels", { tabels: {} }, "did you mean `tables`"],
    ["depth", { depth: 3 }, "must be 1 or 2"],
    ["source", { source: "kafka" }, "`source` must be"],
    ["atLeastOnce", { atLeastOnce: "https://mail.example.com" }, "must be an array of strings"],
    ["tables", { tables: ["orders"] }, "must be an object of tables by name"],
    ["outside", { outside: { "https://mail.example.com": {} } }, "must be an object of functions by name"],
    ["maxRuns", { maxRuns: 1.5 }, "must be a whole number of at least 1"],
    ["visibilitySeconds", { visibilitySeconds: 3 }, "must be at least timeoutSeconds"],
  ])("refuses the option %s where it is wrong", async (_, options, reason) => {
    const exploration = explore(careful, postOrder(), options as ExploreOptions);

    await expect(exploration).rejects.toThrow(InvalidOptionError);
    await expect(exploration).rejects.toThrow(reason);
  });

  it.each([1800, 5400])(
    "F4: explores a function with a timeout of %i s, as Lambda allows",
    async (timeoutSeconds) => {
      const report = await explore(careful, postOrder(), { ...shop, timeoutSeconds, only: "2 crash-after" });

      expect(report).toBeExactlyOnce();
      expect(report.runs).toBe(3);
      await expect(explore(careful, postOrder(), { ...shop, timeoutSeconds: 5401 })).rejects.toThrow(
        "`timeoutSeconds` must be a number above 0 and at most 5400",
      );
    },
  );

  it("refuses what is no handler, and an event that its source cannot send", async () => {
    await expect(explore(undefined as never, {})).rejects.toThrow("`handler` must be a function");
    await expect(explore(careful, {}, { source: "sqs" })).rejects.toThrow("must have Records");
    await expect(explore(careful, "a", { source: "http" })).rejects.toThrow("must be an object");
  });

  it("advises who answers a repetition with a refusal otherwise than who leaves a lock behind", async () => {
    const advice = async (handler: LambdaHandler) =>
      (await explore(handler, postOrder(), { ...shop, only: "1 crash-after" })).findings[0]?.advice;

    expect(await advice(refusesRepetition)).toContain("the work is done, but a repeated request is refused");
    expect(await advice(lockWithoutLease)).toContain("a lock needs a lease");
  });

  it.each([
    ["the client", postOrder()],
    ["the client", getOrder("a")],
    ["the queue", messages("jobs", [{ body: {} }])],
    ["the stream", { Records: [{ eventSource: "aws:dynamodb", dynamodb: { SequenceNumber: "1" } }] }],
    ["Lambda", { orderId: "a" }],
  ])("knows by its shape that %s sends an event", async (sender, event) => {
    const bare = async () => {
      throw new Error("no such thing");
    };

    await expect(explore(bare, event)).rejects.toThrow(`${sender} → bare`);
  });

  it("counts effects of its user's own, and makes the event of the world that was set up", async () => {
    let sum = 0;
    const handler = async ({ add }: { add: number }) => {
      sum += add;
    };
    const setUp = (aws: Simulator) => {
      sum = 0;
      return aws.dynamodb.call("ListTables", {});
    };
    const effects = () => [{ kind: "item", place: "memory", content: { name: "sum", sum } }] as const;

    const report = await explore(handler, () => ({ add: 2 }), { setUp, effects });

    expect(report.findings[0]?.what).toBe("sum is 4 instead of 2 in an item in memory");
  });

  it("prints nothing of what handlers print, unless it is asked to", async () => {
    const printed: unknown[] = [];
    const original = console.info;
    console.info = (text) => printed.push(text);
    const talkative = async () => {
      console.info("hello");
    };

    await explore(talkative, {}, { maxRuns: 1, expectsNoRequest: true });
    const quiet = printed.splice(0);
    await explore(talkative, {}, { maxRuns: 1, expectsNoRequest: true, showsOutput: true });
    console.info = original;

    expect(quiet).toEqual([]);
    expect(printed.length).toBeGreaterThan(0);
  });
});
