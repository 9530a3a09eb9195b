// A real PostgreSQL and two processes of the example: connections that are cut at each message, and a process that is killed.
import { randomUUID } from "node:crypto";
import { sign } from "hono/jwt";
import { postgresSchema } from "onceonly/postgres";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startCuttingProxy } from "../kit/faults/cutting-proxy.ts";
import { USER } from "../kit/postgres-server.ts";
import { type ServerProcess, startServer } from "../kit/server-process.ts";
import { addressOf, clientOf, hasServer, portOf } from "../postgres/given.ts";

const JWT_SECRET = "a secret of at least 256 bits, for these tests only";

describe.skipIf(!hasServer)("the server", () => {
  let proxy: Awaited<ReturnType<typeof startCuttingProxy>>;
  let database: Awaited<ReturnType<typeof clientOf>>;
  let servers: [behindProxy: ServerProcess, other: ServerProcess];

  beforeAll(async () => {
    const port = await portOf();
    const name = `example_${randomUUID().slice(0, 8)}`;
    await (await clientOf(port)).query(`CREATE DATABASE ${name}`);
    database = await clientOf(port, { ...addressOf(port), database: name });
    await database.query(postgresSchema({ table: "idempotency" }));
    await database.query(
      "CREATE TABLE orders (id uuid PRIMARY KEY, customer text NOT NULL, sku text NOT NULL, quantity int NOT NULL)",
    );
    proxy = await startCuttingProxy(port);
    const start = (at: number) =>
      startServer("examples/postgres-hono/server.ts", {
        JWT_SECRET,
        DATABASE_URL: `postgres://${USER}@127.0.0.1:${at}/${name}`,
      });
    servers = await Promise.all([start(proxy.port), start(port)]);
  });

  afterAll(() => {
    for (const { child } of servers ?? []) child.kill("SIGKILL");
    proxy?.close();
  });

  async function order(
    { url }: ServerProcess,
    key: string,
    { caller = "ann", quantity = 2, waits = true } = {},
  ) {
    const answer = await fetch(`${url}/orders`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${await sign({ sub: caller }, JWT_SECRET)}`,
        "idempotency-key": key,
        ...(waits ? {} : { prefer: "wait=0" }),
      },
      body: JSON.stringify({ sku: "tea", quantity }),
    });
    const body = await answer.text();
    return { status: answer.status, body, isReplay: answer.headers.has("idempotent-replayed") };
  }
  const rowsOf = async (customer: string) =>
    (await database.query("SELECT * FROM orders WHERE customer = $1", [customer])).rows;

  it("writes one row for eight requests to two processes, and keeps callers apart", async () => {
    const key = randomUUID();

    const answers = await Promise.all([0, 1, 0, 1, 0, 1, 0, 1].map((at) => order(servers[at as 0 | 1], key)));
    const bobs = await order(servers[0], key, { caller: "bob", quantity: 3 });

    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
    expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
    expect(bobs).toMatchObject({ status: 201, isReplay: false });
    expect(await rowsOf("ann")).toEqual([JSON.parse(answers[0]!.body)]);
    expect(await order(servers[1], key, { quantity: 3 })).toMatchObject({ status: 422 });
  });

  it("writes one row whichever message to the database or answer of it is lost", async () => {
    const caller = "cut";
    await order(servers[0], randomUUID(), { caller });
    void proxy.cutAt(Number.MAX_SAFE_INTEGER, "request");
    await order(servers[0], randomUUID(), { caller });
    const { messages } = proxy;
    expect(messages).toBeGreaterThan(3);

    for (const cut of ["request", "answer"] as const) {
      for (let nth = 1; nth <= messages; nth++) {
        const key = randomUUID();
        const before = await rowsOf(caller);
        void proxy.cutAt(nth, cut);

        const answers = [await order(servers[0], key, { caller })];
        while (answers.at(-1)?.status !== 201) {
          if (answers.length > 3) expect.unreachable(JSON.stringify({ cut, nth, answers }));
          answers.push(await order(servers[1], key, { caller }));
        }

        expect((await rowsOf(caller)).length - before.length).toBe(1);
      }
    }
  });

  it("writes one row if a process is killed in the middle of the transaction, and the other one is asked", async () => {
    const [killed, other] = servers;
    const key = randomUUID();
    const caller = "killed";
    const hit = proxy.cutAt("INSERT INTO orders", "silence");
    const lost = order(killed, key, { caller }).catch((error: Error) => error);
    await hit;
    killed.child.kill("SIGKILL");
    expect(await lost).toBeInstanceOf(Error);
    proxy.heal();

    expect(await order(other, key, { caller, waits: false })).toMatchObject({ status: 409 });
    // The lease of the dead process ends.
    await database.query("UPDATE idempotency SET lease_ends_at = 0 WHERE state = 'in-progress'");
    const first = await order(other, key, { caller });

    expect(first).toMatchObject({ status: 201, isReplay: false });
    expect(await order(other, key, { caller })).toMatchObject({ ...first, isReplay: true });
    expect(await rowsOf(caller)).toEqual([JSON.parse(first.body)]);
  });
});
