// PostgresOutbox, when its connection is lost at any message: each request ends with a code, and a new connection goes on.
import { fromPg, fromPostgresJs, PostgresOutbox, type SqlClient } from "onceonly/postgres";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { CUTS, type CuttingProxy, startCuttingProxy } from "../kit/faults/cutting-proxy.ts";
import { endOf } from "../kit/time/end-of.ts";
import { isFull } from "../setup/tier.ts";
import { hasServer, poolOf, portOf, sqlOf, storeOf } from "./given.ts";

let port: number;
let proxy: CuttingProxy;
let table: string;
beforeAll(async () => {
  if (!hasServer) return;
  port = await portOf();
  proxy = await startCuttingProxy(port);
  ({ table } = await storeOf(fromPg(poolOf(port))));
});
afterAll(() => proxy?.close());
afterEach(() => void vi.useRealTimers());

/** The clients' own pauses take their time. */
const pass = (isSilent: boolean) => vi.advanceTimersByTimeAsync(isSilent ? 30_000 : 5);
const answered = (request: Promise<unknown>) => request.then(() => "answered");

const UNSENT = { recordKey: "a", token: "t", messages: [], committedAt: 1, dueAt: 1, shard: 0 };

const REQUESTS: Record<string, (outbox: PostgresOutbox) => Promise<unknown>> = {
  load: (outbox) => outbox.load("a"),
  take: (outbox) => outbox.take("a", { by: "relay", id: "a", now: 1, until: 2 }),
  keep: (outbox) => outbox.keep(UNSENT, [], 1),
  park: (outbox) => outbox.park("a", 1),
  leaseSweep: (outbox) => outbox.leaseSweep({ id: "a", now: 1, until: 2 }),
  findUnsent: (outbox) => outbox.findUnsent(0, 1).next(),
  readNotes: (outbox) => outbox.readNotes(),
  count: (outbox) => outbox.count(),
};

describe.skipIf(!hasServer).each<[string, () => SqlClient<never>]>([
  ["pg", () => fromPg(poolOf(proxy.port)) as SqlClient<never>],
  ["postgres.js", () => fromPostgresJs(sqlOf(proxy.port, { max: 2 })) as SqlClient<never>],
])("PostgresOutbox over %s", (_, connect) => {
  it.each(CUTS)(
    "H80: R2: each request whose connection is lost ends: %s",
    { timeout: 120_000 },
    async (cut) => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      for (const [name, request] of Object.entries(REQUESTS)) {
        for (let [nth, isHit] = [1, true]; isHit; nth++) {
          const outbox = new PostgresOutbox({ client: connect(), table });
          // The messages that open a connection are the same for each request.
          if (!isFull && name !== "load") await endOf(outbox.readNotes(), pass);
          isHit = false;
          void proxy.cutAt(nth, cut).then(() => {
            isHit = true;
          });

          const end = await endOf(answered(request(outbox)), pass, () => isHit && cut.endsWith("silence"));

          const title = `${name}, ${cut} ${nth}`;
          expect(["answered", "STORE_UNAVAILABLE"], title).toContain(end);
          proxy.heal();
          const next = new PostgresOutbox({ client: connect(), table });
          expect(await endOf(answered(request(next)), pass), title).toBe("answered");
        }
      }
    },
  );
});
