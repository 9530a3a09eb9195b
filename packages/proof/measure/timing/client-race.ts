// Only the client: processor time and heap of a call, against responses recorded from an engine a moment before.
import { connect } from "../../../../test/kit/tables.ts";
import { bundleProcess } from "../../process-bundle.ts";
import { startCannedDynamoDB } from "../canned/canned-dynamodb.ts";
import { recordAnswers } from "../canned/record-answers.ts";
import { byEffort, type Effort } from "../effort.ts";
import type { GroupName } from "./contestants.ts";
import { enter, type RaceEffort, type RaceFigures, Racer, race } from "./race.ts";

/** The contestants and their transport; one race follows the other. */
const RACES = {
  plain: { group: "plain", overTls: false },
  http: { group: "http", overTls: false },
  commits: { group: "commits", overTls: false },
  tls: { group: "plain", overTls: true },
} as const satisfies Record<string, { readonly group: GroupName; readonly overTls: boolean }>;

type RaceName = keyof typeof RACES;

export type ClientFigures = Readonly<Record<Exclude<RaceName, "commits">, RaceFigures>> & {
  /** Absent in results from before they were raced. */
  readonly commits?: RaceFigures;
  /** By each contestant in each run, of first runs and of replays. Absent in results measured with 800. */
  readonly warmUpCalls?: number;
};

/** With fewer warm-up calls the first turns measure V8's compiler: half of our calls' time, a fifth of the peer's. */
const FULL: RaceEffort = { runs: 5, turns: 3, warmUpCalls: 2400, calls: { 1: 120, 16: 192, 64: 256 } };
const SHORT: RaceEffort = { ...FULL, runs: 2, turns: 2, warmUpCalls: 1600 };
const QUICK: RaceEffort = { runs: 1, turns: 2, warmUpCalls: 200, calls: { 1: 50, 16: 96, 64: 128 } };

const effortOf = (effort: Effort) => byEffort(effort, { quick: QUICK, short: SHORT, full: FULL });

export function clientSteps(effort: Effort): number {
  const { runs, turns } = effortOf(effort);
  return Object.keys(RACES).length * runs * turns;
}

/** @param onTurn called `clientSteps` times */
export async function raceClients(
  engine: string,
  effort: Effort,
  onTurn: () => void,
): Promise<ClientFigures> {
  const client = connect(engine);
  const bundle = await bundleProcess("packages/proof/measure/timing/contestant-process.ts");
  const figures: Partial<Record<RaceName, RaceFigures>> = {};
  const raced = effortOf(effort);
  for (const [name, { group, overTls }] of Object.entries(RACES)) {
    const entries = await enter(client, group);
    const exchanges = await recordAnswers(engine, async (endpoint) => {
      for (const entry of entries) {
        const racer = new Racer(entry, { bundle, endpoint });
        await racer.turn({ calls: 1, callers: 1 }).finally(() => racer.stop());
      }
    });
    const canned = await startCannedDynamoDB(exchanges, { overTls });
    try {
      figures[name as RaceName] = await race(entries, { ...canned, bundle }, raced, onTurn);
    } finally {
      canned.stop();
    }
  }
  client.destroy();
  return { ...(figures as Record<RaceName, RaceFigures>), warmUpCalls: raced.warmUpCalls };
}
