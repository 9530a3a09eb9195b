// A real Valkey or Redis with a replica, and two processes of the example: lost connections, and a process that is killed.
import { createHash, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startCuttingProxy } from "../kit/faults/cutting-proxy.ts";
import { type ServerProcess, startServer } from "../kit/server-process.ts";
import { startValkey, type ValkeyServer } from "../kit/valkey-server.ts";
import { hasServer, redisOf } from "../valkey/given.ts";

const digest = (token: string) => createHash("sha256").update(token).digest("hex");
const TOKEN_DIGESTS = JSON.stringify({ [digest("ann-token")]: "ann", [digest("bob-token")]: "bob" });

describe.skipIf(!hasServer)("the server", () => {
  let primary: ValkeyServer;
  let replica: ValkeyServer;
  let redis: ReturnType<typeof redisOf>;
  let proxy: Awaited<ReturnType<typeof startCuttingProxy>>;
  let servers: [behindProxy: ServerProcess, other: ServerProcess];

  beforeAll(async () => {
    primary = await startValkey(["--repl-diskless-sync-delay", "0"]);
    replica = await startValkey(["--replicaof", "127.0.0.1", `${primary.port}`]);
    proxy = await startCuttingProxy(primary.port);
    const start = (port: number) =>
      startServer("examples/valkey-express/server.ts", {
        TOKEN_DIGESTS,
        VALKEY_URL: `redis://127.0.0.1:${port}`,
      });
    servers = await Promise.all([start(proxy.port), start(primary.port)]);
    redis = redisOf(primary.port);
    const isOnline = async () => expect(await redis.info("replication")).toContain("state=online");
    await vi.waitFor(isOnline, { timeout: 30_000 });
  });

  afterAll(async () => {
    for (const { child } of servers ?? []) child.kill("SIGKILL");
    proxy?.close();
    await Promise.all([primary?.stop(), replica?.stop()]);
  });

  async function book({ url }: ServerProcess, key: string, seat: string, caller = "ann") {
    const answer = await fetch(`${url}/bookings`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        authorization: `Bearer ${caller}-token`,
        "idempotency-key": key,
      },
      body: JSON.stringify({ seat }),
    });
    const body = await answer.text();
    return { status: answer.status, body, isReplay: answer.headers.has("idempotent-replayed") };
  }

  it("books a seat once for eight requests to two processes, and refuses the next customer", async () => {
    const key = randomUUID();

    const answers = await Promise.all(
      [0, 1, 0, 1, 0, 1, 0, 1].map((at) => book(servers[at as 0 | 1], key, "1A")),
    );

    expect(new Set(answers.map(({ status, body }) => `${status} ${body}`)).size).toBe(1);
    expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
    expect(await redis.get("seat:1A")).toBe("ann");
    expect(await book(servers[1], key, "1A", "bob")).toMatchObject({ status: 409, isReplay: false });
    expect(await book(servers[1], key, "2B")).toMatchObject({ status: 422 });
    expect(await book(servers[1], key, "1A", "eve")).toMatchObject({ status: 401 });
  });

  it("gives the customer the seat whichever message to the server or answer of it is lost", async () => {
    void proxy.cutAt(Number.MAX_SAFE_INTEGER, "request");
    await book(servers[0], randomUUID(), "3C");
    const { messages } = proxy;
    expect(messages).toBeGreaterThan(1);

    for (const cut of ["request", "answer"] as const) {
      for (let nth = 1; nth <= messages; nth++) {
        const [key, seat] = [randomUUID(), `4-${cut}-${nth}`];
        void proxy.cutAt(nth, cut);

        const answers = [await book(servers[0], key, seat)];
        while (answers.at(-1)?.status !== 201) {
          if (answers.length > 3) expect.unreachable(JSON.stringify({ cut, nth, answers }));
          answers.push(await book(servers[1], key, seat));
        }

        expect(answers.at(-1)?.body).toBe(JSON.stringify({ seat, customer: "ann" }));
        expect(await redis.get(`seat:${seat}`)).toBe("ann");
      }
    }
  });

  it("replays a booking whose process was killed before it could answer", async () => {
    const [killed, other] = servers;
    const key = randomUUID();
    // The second message is the commit, behind the claim.
    const hit = proxy.cutAt(2, "half-silence");
    const lost = book(killed, key, "5D").catch((error: Error) => error);
    await hit;
    await expect.poll(() => redis.get("seat:5D")).toBe("ann");
    killed.child.kill("SIGKILL");
    expect(await lost).toBeInstanceOf(Error);

    expect(await book(other, key, "5D")).toEqual({
      status: 201,
      body: JSON.stringify({ seat: "5D", customer: "ann" }),
      isReplay: true,
    });
  });
});
