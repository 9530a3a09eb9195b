// Commands whose connection goes silent: each ends with an error, over a table, a queue and the store of a module.
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from "vitest";
import { fromPg } from "../../../lib/postgres/from-pg.ts";
import { PostgresOutbox } from "../../../lib/postgres/postgres-outbox.ts";
import { PostgresStore } from "../../../lib/postgres/postgres-store.ts";
import { CUTS, type CuttingProxy, startCuttingProxy } from "../../../test/kit/faults/cutting-proxy.ts";
import { connect, createOutboxTable } from "../../../test/kit/tables.ts";
import { endOf } from "../../../test/kit/time/end-of.ts";
import { hasServer, poolOf, portOf, storeOf } from "../../../test/postgres/given.ts";
import given from "./store-given.ts";
import { runAlone } from "./world.ts";

const MODULE = "packages/cli/test/store-given.ts";
afterEach(() => void vi.useRealTimers());

/** The clients' own pauses take their time. */
const pass = (isSilent: boolean) => vi.advanceTimersByTimeAsync(isSilent ? 30_000 : 5);

/** How each command ends when the nth message meets the fault, until there is no nth message. */
async function endsOf(
  proxy: CuttingProxy,
  cut: (typeof CUTS)[number],
  command: () => ReturnType<typeof runAlone>,
) {
  const ends = new Set<string>();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  for (let [nth, isHit] = [1, true]; isHit; nth++) {
    isHit = false;
    void proxy.cutAt(nth, cut).then(() => {
      isHit = true;
    });
    const status = command().then(({ status }) => `status ${status}`);
    const end = await endOf(status, pass, () => isHit && cut.endsWith("silence"));
    ends.add(end instanceof Error ? end.name : `${end}`);
    proxy.heal();
  }
  return [...ends];
}

const COMMANDS = [
  ["list", "unknown"],
  ["find", "key-1", "-o", "pay"],
  ["outbox", "list"],
] as const;

describe.skipIf(!hasServer)("with --store, over PostgreSQL", () => {
  let proxy: CuttingProxy;
  let table: string;
  beforeAll(async () => {
    const port = await portOf();
    ({ table } = await storeOf(fromPg(poolOf(port))));
    proxy = await startCuttingProxy(port);
  });
  afterAll(() => proxy?.close());

  it.each(CUTS)(
    "H80: R2: each command ends when its connection is lost: %s",
    { timeout: 120_000 },
    async (cut) => {
      for (const [name, ...args] of COMMANDS) {
        const ends = await endsOf(proxy, cut, () => {
          const client = fromPg(poolOf(proxy.port));
          Object.assign(given, {
            store: new PostgresStore({ client, table }),
            outbox: new PostgresOutbox({ client, table }),
          });
          return runAlone(name, [...args, "--store", MODULE]);
        });

        // A read whose connection is reset is repeated on another one.
        if (cut.endsWith("silence")) expect(ends, name).toContain("STORE_UNAVAILABLE");
        for (const end of ends) expect(["STORE_UNAVAILABLE", "status 0", "status 1"], name).toContain(end);
      }
    },
  );
});

describe("with --table", () => {
  const { endpoint } = inject("dynamodbEngines")[0]!;
  let proxy: CuttingProxy;
  let table: string;
  beforeAll(async () => {
    table = await createOutboxTable(connect(endpoint, { region: "us-east-1" }));
    proxy = await startCuttingProxy(Number(new URL(endpoint).port));
  });
  afterAll(() => proxy.close());

  it.each(CUTS)(
    "H80: R2: each command ends when its connection is lost: %s",
    { timeout: 120_000 },
    async (cut) => {
      for (const [name, ...args] of COMMANDS) {
        const place = ["--table", table, "--endpoint", `http://127.0.0.1:${proxy.port}`];

        const ends = await endsOf(proxy, cut, () => runAlone(name, [...args, ...place]));

        // The SDK tries again after a fault, on a connection of its own.
        for (const end of ends) expect(["STORE_UNAVAILABLE", "status 0", "status 1"], name).toContain(end);
      }
    },
  );
});
