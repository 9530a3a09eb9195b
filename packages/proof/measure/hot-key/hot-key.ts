// Many simultaneous duplicates of one key: while the first call is running, and after it has finished. Counts their cost and
// whether any of them had an effect.
import { ScanCommand } from "@aws-sdk/client-dynamodb";
import { gate } from "../../../../test/kit/time/gate.ts";
import { type HttpAnswer, type Invoke, type LambdaHandler, postOrder } from "../contestants/lambda-call.ts";
import { committingOrder, onceonlyHttp } from "../contestants/onceonly.ts";
import { powertoolsHttp } from "../contestants/powertools.ts";
import { createWorld, lambdaContext, puttingOrder, type World } from "../contestants/world.ts";
import type { Tally } from "../metering/meter.ts";
import { type MeteredClient, meteredClient } from "../metering/metered-client.ts";

export const DUPLICATES = 200;

export interface HotKeyResult {
  /** The total cost of all duplicates that came while the first call was running. */
  readonly atWork: Tally;
  /** The total cost of all duplicates that came afterwards. */
  readonly afterwards: Tally;
  /** How often the handler ran, the first call included. */
  readonly runs: number;
  /** Orders that there are in the end. */
  readonly effects: number;
  /** Duplicates that got the first call's answer; those while it was at work, and those afterwards. */
  readonly replayed: readonly [atWork: number, afterwards: number];
}

interface Contestant {
  readonly deploy: (world: World) => (handler: LambdaHandler) => Invoke;
  readonly handler: (world: World) => LambdaHandler;
}

const records = ({ client, onceonlyTable: tableName }: World) => ({ client, tableName });

/** The last is the peer. */
const CONTESTANTS: Readonly<Record<string, Contestant>> = {
  "onceonly, claimed": { deploy: (world) => onceonlyHttp(records(world)), handler: puttingOrder },
  "onceonly, claimed, with a commit": {
    deploy: (world) => onceonlyHttp(records(world)),
    handler: (world) => committingOrder(world),
  },
  "onceonly, optimistic": {
    deploy: (world) => onceonlyHttp(records(world), { mode: "optimistic" }),
    handler: (world) => committingOrder(world),
  },
  Powertools: { deploy: powertoolsHttp, handler: puttingOrder },
};

export const HOT_KEY_STEPS = Object.keys(CONTESTANTS).length;

/** By the contestant's name; the last is the peer. @param onContestant called HOT_KEY_STEPS times */
export async function compareHotKey(
  endpoint: string,
  onContestant: () => void,
  duplicates = DUPLICATES,
): Promise<Readonly<Record<string, HotKeyResult>>> {
  const results: Record<string, HotKeyResult> = {};
  for (const [name, contestant] of Object.entries(CONTESTANTS)) {
    const metered = await meteredClient(endpoint);
    results[name] = await pressOn(metered, contestant, duplicates);
    metered.client.destroy();
    onContestant();
  }
  return results;
}

async function pressOn(
  metered: MeteredClient,
  { deploy, handler }: Contestant,
  duplicates: number,
): Promise<HotKeyResult> {
  const world = await createWorld(metered.client);
  const [started, finished] = [gate(), gate()];
  const work = handler(world);
  let runs = 0;
  const invoke = deploy(world)(async (event, context) => {
    if (++runs === 1) {
      started.open();
      await finished.opened;
    }
    return work(event, context);
  });
  const answers: string[][] = [[], []];
  const call = async (into: string[]) => {
    const answer = await invoke(postOrder("hot"), lambdaContext()).catch(() => undefined);
    const { statusCode, body } = (answer ?? {}) as Partial<HttpAnswer>;
    if (statusCode === 201) into.push(String(body));
  };
  const press = (into: string[] = []) =>
    metered.during(() => Promise.all(Array.from({ length: duplicates }, () => call(into))));

  const first: string[] = [];
  const firstCall = call(first);
  await started.opened;
  const atWork = await press(answers[0]);
  finished.open();
  await firstCall;
  const afterwards = await press(answers[1]);
  const [atWorkReplays = 0, afterwardsReplays = 0] = answers.map(
    (bodies) => bodies.filter((body) => body === first[0]).length,
  );
  const { Count = 0 } = await metered.client.send(new ScanCommand({ TableName: world.ordersTable }));
  return { atWork, afterwards, runs, effects: Count, replayed: [atWorkReplays, afterwardsReplays] };
}
