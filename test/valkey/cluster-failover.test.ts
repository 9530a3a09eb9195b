// A cluster of three masters with replicas under load, while nodes fail over, die and hand slots on.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { slotOf } from "../../lib/valkey/slot.ts";
import { until } from "../kit/time/until.ts";
import { startValkeyCluster, type ValkeyCluster } from "../kit/valkey-cluster.ts";
import { startLoad } from "./cluster-given.ts";
import { CLUSTERS, hasServer, storeOf } from "./given.ts";

const CALLERS = 16;
const acknowledgedBy = { replicas: 1, timeoutMs: 1000 };
/** Of the first master. */
const SLOT = 0;

let cluster: ValkeyCluster;

/** Resolves once another node has the slot. A replica gives a failover up after 5 s on a busy machine: it is asked again. */
async function failOver(signal: AbortSignal, how: string[] | "kill"): Promise<void> {
  const { master } = await cluster.shardOf(SLOT);
  const isOver = async () => (await cluster.shardOf(SLOT).catch(() => ({ master }))).master !== master;
  if (how === "kill") await cluster.kill(master);
  for (let tries = 0; tries < 10; tries++) {
    const { replicas: [replica] = [] } = await cluster.shardOf(SLOT).catch(() => ({ replicas: [] }));
    if (how !== "kill" && replica) await cluster.ask(replica, "CLUSTER", "FAILOVER", ...how).catch(() => {});
    if (await until(isOver, { seconds: 7, signal })) return;
  }
  expect.unreachable("no other node has the slot");
}

const CHANGES: Readonly<Record<string, (signal: AbortSignal) => Promise<void>>> = {
  "a graceful failover": (signal) => failOver(signal, []),
  "a takeover": (signal) => failOver(signal, ["TAKEOVER"]),
  "a master that is killed": (signal) => failOver(signal, "kill"),
  "slots that move": async () => {
    for (let shard = 0; shard < 48; shard++) {
      const slot = slotOf(`{${shard}}`);
      const { master } = await cluster.shardOf(slot);
      const masters = await cluster.masters();
      await cluster.moveSlot(slot, masters[(masters.indexOf(master) + 1) % masters.length] ?? 0);
    }
  },
};

/** Without acknowledgedBy these lose what no replica has, as the documentation says. */
const LOSES = ["a takeover", "a master that is killed"];

describe.skipIf(!hasServer).each(Object.keys(CHANGES))("%s under 16 callers", (change) => {
  beforeEach(async () => {
    cluster = await startValkeyCluster({ spares: change.includes("killed") ? 1 : 0 });
  }, 60_000);
  afterEach(() => cluster.stop());

  const cases = Object.entries(CLUSTERS).flatMap(([name, connect]) => [
    { name: `${name}, with acknowledgedBy`, connect, options: { acknowledgedBy } },
    { name: `${name}, without acknowledgedBy`, connect, options: {} },
  ]);

  it.each(cases)(
    "H96: N1: doubles no effect and leaves no caller stuck, with $name",
    { timeout: 200_000 },
    async ({ name, connect, options }) => {
      const signal = AbortSignal.timeout(190_000);
      const { store } = storeOf(await connect(cluster.ports[0] ?? 0), options);
      const load = startLoad([store], CALLERS);
      const goesOn = async () => {
        const before = load.done();
        expect(await until(() => load.done() > before + 200, { seconds: 60, signal })).toBe(true);
      };
      await goesOn();
      await CHANGES[change]?.(signal);
      await goesOn();

      const report = await load.end();

      console.info(`${change}, ${name}: ${JSON.stringify(report)}`);
      const isLossy = LOSES.includes(change) && !("acknowledgedBy" in options);
      expect(report).toMatchObject({ stuck: 0, refused: [], ...(!isLossy && { doubled: 0 }) });
    },
  );
});
