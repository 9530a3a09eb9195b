// The sample servers: two processes of each on one table, where duplicates meet, and one gets SIGTERM in the middle of a commit.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { type Carry, type Middleman, startMiddleman } from "../kit/faults/middleman.ts";
import { type ServerProcess, startServer } from "../kit/server-process.ts";
import { connect, createTable } from "../kit/tables.ts";
import { gate } from "../kit/time/gate.ts";

const endpoint = inject("dynamodbEngines")[0]?.endpoint ?? "";
const TOKENS = { "acme-token": "acme", "globex-token": "globex" };

const start = (file: string, environment: Readonly<Record<string, string>>) =>
  startServer(`bin/servers/${file}`, { TOKENS: JSON.stringify(TOKENS), ...environment });

async function order(
  { url }: ServerProcess,
  {
    key = randomUUID(),
    body = { item: "book" },
    token = "acme-token",
  }: { key?: string; body?: object; token?: string },
) {
  const answer = await fetch(`${url}/orders`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      // A connection that is kept keeps a process for as long, which ends.
      connection: "close",
      authorization: `Bearer ${token}`,
      ...(key !== "" && { "idempotency-key": key }),
    },
    body: JSON.stringify(body),
  });
  const replayed = answer.headers.get("idempotent-replayed");
  return {
    status: answer.status,
    location: answer.headers.get("location"),
    replayed,
    text: await answer.text(),
  };
}

describe.each(["hono.ts", "express.ts", "fastify.ts"])("the sample server %s", (file) => {
  const client = connect(endpoint);
  let ordersTable: string;
  let middleman: Middleman;
  let samples: [ServerProcess, ServerProcess];
  let carry: Carry = (request, handOn) => handOn(request);

  beforeAll(async () => {
    ordersTable = await createTable(client, "tenant", "id");
    middleman = await startMiddleman((request, handOn) => carry(request, handOn));
    middleman.leadTo(endpoint);
    const environment = {
      ORDERS_TABLE: ordersTable,
      IDEMPOTENCY_TABLE: await createTable(client),
      AWS_ENDPOINT_URL_DYNAMODB: middleman.endpoint,
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
    };
    samples = await Promise.all([start(file, environment), start(file, environment)]);
  });

  afterAll(async () => {
    for (const { child } of samples ?? []) child.kill("SIGKILL");
    await middleman?.stop();
    client.destroy();
  });

  const orders = async () => {
    const { Items = [] } = await client.send(
      new ScanCommand({ TableName: ordersTable, ConsistentRead: true }),
    );
    return Items;
  };

  it("takes an order once, whichever process is asked, and answers every duplicate alike", async () => {
    const key = randomUUID();
    const before = (await orders()).length;

    const atOnce = await Promise.all([0, 1, 0, 1].map((at) => order(samples[at as 0 | 1], { key })));
    const later = await Promise.all(samples.map((sample) => order(sample, { key })));

    const [first] = atOnce.filter(({ status, replayed }) => status === 201 && replayed === null);
    for (const { status } of atOnce) expect([201, 409]).toContain(status);
    expect(later).toEqual([1, 2].map(() => ({ ...first, replayed: "true" })));
    expect(first?.location).toBe(`/orders/${JSON.parse(first?.text ?? "").id}`);
    expect((await orders()).length - before).toBe(1);
  });

  it("refuses a caller without an identity, a request without a key, and another payload under one; tenants share no key", async () => {
    const [sample] = samples;
    const key = randomUUID();
    const own = await order(sample, { key });
    const before = (await orders()).length;

    expect(await order(sample, { key, token: "stolen" })).toMatchObject({ status: 401 });
    expect(await order(sample, { key: "" })).toMatchObject({ status: 400 });
    expect(await order(sample, { key, body: { item: "pen" } })).toMatchObject({ status: 422 });
    expect((await orders()).length).toBe(before);
    const theirs = await order(sample, { key, token: "globex-token", body: { item: "pen", tenant: "acme" } });
    expect(theirs).toMatchObject({ status: 201, replayed: null });
    expect(JSON.parse(theirs.text)).toMatchObject({ tenant: "globex", item: "pen" });
    expect(theirs.text).not.toBe(own.text);
  });

  it("that gets SIGTERM finishes the order it is working on, and the other process replays it", async () => {
    const [ended, left] = samples;
    const key = randomUUID();
    const [asked, goOn] = [gate(), gate()];
    carry = async (request, handOn) => {
      if (request.headers["x-amz-target"]?.endsWith("TransactWriteItems")) {
        asked.open();
        await goOn.opened;
      }
      return handOn(request);
    };
    const answer = order(ended, { key });
    await asked.opened;
    const exit = once(ended.child, "exit");
    ended.child.kill("SIGTERM");
    goOn.open();

    const first = await answer;
    expect(first).toMatchObject({ status: 201, replayed: null });
    expect(await exit).toEqual([0, null]);
    expect(await order(left, { key })).toEqual({ ...first, replayed: "true" });
  });
});
