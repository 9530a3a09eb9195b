// The load against servers that are up already and stand for a sample: one that keeps the promise, and others.
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { RunningTarget } from "../../../show/load/target.ts";
import { startCommand } from "../world.ts";
import { judgeRun } from "./given.ts";
import { type Answer, type PostedOrder, startOrderServer } from "./world.ts";

const SIZES = { orders: 6, duplicates: 3, hot: 20, seed: 1, connections: 4, seconds: 10 };

function load(url: string) {
  return judgeRun({ ...SIZES, target: { kind: "running", url } });
}

function newOrder({ key, body: { sku, quantity, card } }: PostedOrder): Answer {
  const state = card === "card_declined" ? "declined" : "paid";
  return { status: 201, order: { id: randomUUID(), key, sku, quantity, totalCents: 250 * quantity, state } };
}

/** One order for each key, and 422 for another body. */
function faithful(): (posted: PostedOrder) => Answer {
  const answers = new Map<string, Answer>();
  return (posted) => {
    const { tenant, key, body } = posted;
    const answer = answers.get(`${tenant} ${key}`) ?? newOrder(posted);
    answers.set(`${tenant} ${key}`, answer);
    return answer?.order?.quantity === body.quantity ? answer : { status: 422 };
  };
}

describe("runLoad with a service that runs already", () => {
  it("uses what its API shows, and reports what it doesn't", async () => {
    const { thresholds, broken, observed } = await load(await startOrderServer(faithful()));

    expect(broken).toEqual([]);
    expect(observed.sent.unanswered).toBe(0);
    expect(observed.answers.filter(({ status }) => status === 422)).toHaveLength(1);
    expect(thresholds.find(({ name }) => name === "orders of acme")).toMatchObject({ expected: 3, found: 3 });
    const unseen = thresholds.filter(({ found }) => found === undefined).map(({ name }) => name);
    expect(unseen).toContain("payments of acme");
    expect(unseen).toContain("orders that no client asked for");
    expect(unseen).toContain("messages in the dead-letter queue");
  });

  it("finds the orders that a service makes of every request", async () => {
    const { broken } = await load(await startOrderServer(newOrder));

    expect(broken).toEqual([
      "unexpected statuses",
      "keys with different answers",
      "orders of acme",
      "paid orders of acme",
      "orders of globex",
      "paid orders of globex",
      "orders of another content",
    ]);
  });

  it("finds a service that mixes up the tenants", async () => {
    const answer = faithful();
    const { broken } = await load(await startOrderServer((posted) => answer({ ...posted, tenant: "one" })));

    expect(broken).toEqual(expect.arrayContaining(["unexpected statuses", "keys that are stuck"]));
    expect(broken).toContain("orders of globex");
  });

  it("finds answers with an order that doesn't exist", async () => {
    let id = 0;
    const url = await startOrderServer((posted) => {
      const order = newOrder(posted)?.order;
      return order && { status: 201, order: { ...order, id: `elsewhere/${id++}` } };
    });

    expect((await load(url)).broken).toContain("orders of acme");
  });

  it("counts requests whose connection broke", async () => {
    const answer = faithful();
    let requests = 0;
    const url = await startOrderServer((posted) => (++requests % 5 === 0 ? undefined : answer(posted)));
    const { broken, observed } = await load(url);

    expect(broken).toEqual(["requests without an answer"]);
    expect(observed.sent.unanswered).toBeGreaterThan(2);
  });

  it("waits for a key that is in progress at the end", async () => {
    const answer = faithful();
    const asked = new Map<string, number>();
    const url = await startOrderServer((posted) => {
      const times = (asked.get(posted.tenant + posted.key) ?? 0) + 1;
      asked.set(posted.tenant + posted.key, times);
      return times < 4 ? { status: times === 1 ? 409 : 503 } : answer(posted);
    });
    const target = { kind: "running", url } as const;
    const { observed } = await judgeRun({ ...SIZES, duplicates: 0, hot: 0, target });

    expect(observed.stuck).toEqual([]);
    expect(observed.effects.orders).toHaveLength(6);
  });

  it("reports that there is no sample", async () => {
    const url = await startOrderServer(faithful());
    const unused = "http://127.0.0.1:9";
    const loadAt = (target: Omit<RunningTarget, "kind">) =>
      judgeRun({ ...SIZES, target: { kind: "running", ...target } });

    await expect(load(unused)).rejects.toThrow(`no answer from ${unused}: start the sample with npm start`);
    await expect(loadAt({ url, dynamodb: unused })).rejects.toThrow(`no DynamoDB answers at ${unused}`);
    await expect(loadAt({ url, sqs: unused })).rejects.toThrow(`no SQS answers at ${unused}`);
    await expect(loadAt({ url, dynamodb: url })).rejects.toThrow(
      `there must be one table Orders of the sample at ${url}, found 0`,
    );
  });

  it("ends when its time is over", { timeout: 15_000 }, async () => {
    const answer = faithful();
    let requests = 0;
    const url = await startOrderServer((posted) => {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, requests++ < 15 ? 100 : 0);
      return answer(posted);
    });
    const target = { kind: "running", url } as const;
    const { broken, observed } = await judgeRun({ ...SIZES, orders: 100, seconds: 1, target });

    expect(broken).toContain("requests without an answer");
    expect(observed.sent.answered).toBeLessThan(50);
  });
});

describe("npm run load -- --url", () => {
  it("ends with status 1 and names what is broken", async (test) => {
    const url = await startOrderServer(newOrder);
    const { status, printed } = await startCommand(test, "load", {
      args: ["--orders", "4", "--url", url],
    }).ended();

    expect(printed).toMatch(/^✗ orders of acme +2 +\d+$/m);
    expect(printed).toMatch(/^broken \(7 of 10\): unexpected statuses, keys with different answers/m);
    expect(status).toBe(1);
  });

  it("refuses any other machine, and sends nothing", async (test) => {
    const { status, printed } = await startCommand(test, "load", {
      args: ["--url", "http://192.0.2.1"],
    }).ended();

    expect(status).toBe(2);
    expect(printed.split("\n")[0]).toBe(
      '--url must be http:// and lead to this machine (localhost, 127.x.x.x or [::1]); got "http://192.0.2.1"',
    );
  });
});
