// A group's contestants take turns within one run, so a slow moment of the machine affects all of them. Each
// has its own process, so settings that a package changes for its process slow down no other. Every run begins
// with new processes.
import { isDeepStrictEqual } from "node:util";
import type { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { createTable } from "../../../../test/kit/tables.ts";
import { type HelperProcess, startHelper } from "../../helper-process.ts";
import type { CannedDynamoDB } from "../canned/canned-dynamodb.ts";
import type { Question, Report, Setup } from "./contestant-process.ts";
import { type Contestant, GROUPS, type GroupName, type Tables } from "./contestants.ts";
import { median } from "./median.ts";
import { CALLERS, type Callers, KINDS, type Kind, type Sample } from "./turn.ts";

export interface RaceEffort {
  readonly runs: number;
  /** The turns of each contestant in each run, for each number of callers. */
  readonly turns: number;
  readonly warmUpCalls: number;
  /** The calls of one turn. */
  readonly calls: Readonly<Record<Callers, number>>;
}

export interface Entry {
  readonly group: GroupName;
  readonly name: string;
  readonly tables: Tables;
}

export interface RaceTrack {
  readonly bundle: string;
  readonly endpoint: string;
  readonly certificateFile?: string | undefined;
  /** If this is given, every request is accounted for. */
  readonly asked?: CannedDynamoDB["asked"];
}

/** One sample for each run, by the contestant's name. */
export type RaceFigures = Readonly<
  Record<string, Readonly<Record<Kind, Readonly<Record<Callers, readonly Sample[]>>>>>
>;

/** Separate tables for each contestant of a group. */
export function enter(
  client: DynamoDBClient,
  group: GroupName,
  names = Object.keys(GROUPS[group]),
): Promise<Entry[]> {
  return Promise.all(
    names.map(async (name) => {
      const { partitionKey } = GROUPS[group][name] as Contestant;
      const [records, orders] = await Promise.all([
        createTable(client, partitionKey),
        createTable(client, "id"),
      ]);
      return { group, name, tables: { records, orders } };
    }),
  );
}

/** @param onTurn called `runs` times `turns` times */
export async function race(
  entries: readonly Entry[],
  track: RaceTrack,
  { runs, turns, warmUpCalls, calls }: RaceEffort,
  onTurn: () => void,
): Promise<RaceFigures> {
  const figures = Object.fromEntries(entries.map(({ name }) => [name, noSamples()]));
  for (let run = 0; run < runs; run++) {
    const racers = entries.map((entry) => new Racer(entry, track));
    try {
      for (const racer of racers) await racer.turn({ calls: warmUpCalls, callers: 16 });
      const taken = Object.fromEntries(entries.map(({ name }) => [name, noSamples()]));
      for (let turn = 0; turn < turns; turn++) {
        for (const callers of CALLERS) {
          for (const racer of rotated(racers, run + turn)) {
            const reports = await racer.turn({ calls: calls[callers], callers });
            for (const kind of KINDS) taken[racer.name]?.[kind][callers].push(reports[kind]);
          }
        }
        onTurn();
      }
      for (const { name } of entries) {
        for (const kind of KINDS) {
          for (const callers of CALLERS) {
            figures[name]?.[kind][callers].push(together(taken[name]?.[kind][callers] ?? []));
          }
        }
      }
    } finally {
      for (const racer of racers) racer.stop();
    }
  }
  return figures;
}

/** @throws Error if a contestant didn't do what it declares */
export class Racer {
  readonly name: string;
  readonly #contestant: Contestant;
  readonly #process: HelperProcess;
  readonly #asked: CannedDynamoDB["asked"] | undefined;

  constructor(setup: Entry, { bundle, endpoint, certificateFile, asked }: RaceTrack) {
    this.name = setup.name;
    this.#contestant = GROUPS[setup.group][setup.name] as Contestant;
    this.#asked = asked;
    const env = {
      ...process.env,
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      AWS_REGION: "eu-central-1",
      AWS_ACCESS_KEY_ID: "local",
      AWS_SECRET_ACCESS_KEY: "local",
      ...(certificateFile && { NODE_EXTRA_CA_CERTS: certificateFile }),
    };
    this.#process = startHelper(bundle, [JSON.stringify(setup satisfies Setup)], { env });
  }

  async turn(question: Omit<Question, "kind">): Promise<Record<Kind, Sample>> {
    return {
      firstRun: await this.#take({ ...question, kind: "firstRun" }),
      replay: await this.#take({ ...question, kind: "replay" }),
    };
  }

  stop(): void {
    this.#process.stop();
  }

  async #take(question: Question): Promise<Sample> {
    const { kind, calls } = question;
    await this.#asked?.();
    const { handlerRuns, otherAnswers, ...sample } = (await this.#process.ask(question)) as Report;
    const { requests } = this.#contestant;
    if (!requests) return sample;
    const expected = Object.entries(requests[kind]).map(([operation, each]) => [operation, each * calls]);
    const wanted = {
      handlerRuns: kind === "firstRun" ? calls : 0,
      otherAnswers: 0,
      asked: Object.fromEntries(expected),
    };
    const asked = this.#asked ? await this.#asked() : wanted.asked;
    const seen = { handlerRuns, otherAnswers, asked };
    if (isDeepStrictEqual(seen, wanted)) return sample;
    const difference = `${JSON.stringify(seen)}, not ${JSON.stringify(wanted)}`;
    throw new Error(`"${this.name}" did not do its work in ${calls} calls, ${kind}: ${difference}`);
  }
}

function noSamples(): Record<Kind, Record<Callers, Sample[]>> {
  return { firstRun: { 1: [], 16: [], 64: [] }, replay: { 1: [], 16: [], 64: [] } };
}

function together(samples: readonly Sample[]): Sample {
  const middle = (pick: (sample: Sample) => number) => Number(median(samples.map(pick)).toPrecision(4));
  return {
    cpuMs: middle(({ cpuMs }) => cpuMs),
    heapKb: middle(({ heapKb }) => heapKb),
    latencyMs: middle(({ latencyMs }) => latencyMs),
    callsPerSecond: middle(({ callsPerSecond }) => callsPerSecond),
  };
}

function rotated<T>(list: readonly T[], by: number): T[] {
  const start = by % list.length;
  return [...list.slice(start), ...list.slice(0, start)];
}
