// The stage of one mode: its tables, its hosts, and for messages its queues, all on loopback.
import type { ObservedRequest } from "../../../local/lib/fault-proxy.ts";
import { type SeededRandom, seededRandom } from "../demo/random.ts";
import { type Host, startHost } from "./host.ts";
import type { Violation } from "./judge/violation.ts";
import { type MessageFlow, startMessageFlow } from "./messages/message-flow.ts";
import type { CampaignOptions } from "./options.ts";
import { note, type Subject } from "./subject.ts";
import { createTables, type Tables } from "./tables.ts";
import { Tally } from "./tally.ts";
import { describeRequest } from "./trace.ts";
import type { Mode } from "./variants.ts";
import { createWeather, type Weather } from "./weather.ts";

export interface StageOptions {
  readonly mode: Mode;
  /** The database engine, past the proxies. */
  readonly endpoint: string;
  readonly bundle: string;
  readonly seed: number;
  readonly hosts: number;
  /** How far the clocks of two hosts may differ, and by how much each may be off. */
  readonly clockSkewSeconds: number;
  readonly skewMs: number;
  readonly client: CampaignOptions["client"];
  readonly isFenced: boolean;
}

export interface Stage {
  readonly mode: Mode;
  readonly random: SeededRandom;
  readonly hosts: readonly Host[];
  readonly tables: Tables;
  readonly weather: Weather;
  readonly flow: MessageFlow | undefined;
  /** Longer than any lease of the campaign. */
  readonly stopMs: () => number;
  /** The longest time until a key whose process was killed can be finished by another one. */
  readonly leaseMs: number;
  readonly faults: Tally;
  readonly answers: Tally;
  readonly decisions: Tally;
  /** Subjects with their requests noted, by record key. */
  readonly watched: Map<string, Subject>;
  /** Failures that belong to no particular key, since this was emptied. */
  readonly mishaps: Violation[];
  nextId(): number;
  requests(): number;
  end(): Promise<void>;
}

/** The longest invocation of a storm. */
const LONGEST_MS = 2500;

const STOP_SHARE = 0.005;
/** Many late processes, so a missing fence shows within seconds. */
const STOP_SHARE_OF_CONTROL = 0.05;

export async function startStage(options: StageOptions): Promise<Stage> {
  const { mode, endpoint, bundle, seed, clockSkewSeconds, skewMs, client, isFenced } = options;
  const random = seededRandom(seed);
  const [faults, answers, decisions] = [new Tally(), new Tally(), new Tally()];
  const watched = new Map<string, Subject>();
  const mishaps: Violation[] = [];
  const stopMs = () => random.integer(1600, 4500);
  const weather = createWeather({
    random,
    faults,
    stopMs,
    stopShare: isFenced ? STOP_SHARE : STOP_SHARE_OF_CONTROL,
  });
  let lastId = 0;
  const nextId = () => ++lastId;

  const tables = await createTables(endpoint, `${mode}-${isFenced ? "fenced" : "naive"}-${seed}`);
  const hosts: Host[] = [];
  const flow =
    mode === "messages"
      ? await startMessageFlow({ endpoint, tables, hosts, random, faults, nextId })
      : undefined;
  const log = (request: ObservedRequest, text: string) => {
    const seen = describeRequest(request);
    const subject = watched.get(seen.recordKey ?? "");
    if (subject) note(subject, `${seen.text} ${text}`);
  };
  const world = {
    records: tables.records,
    effects: tables.effects,
    queues: flow?.queueUrls ?? {},
    clockSkewSeconds,
    isFenced,
  };
  for (let number = 1; number <= options.hosts; number++) {
    hosts.push(
      await startHost({
        number,
        bundle,
        dynamodb: endpoint,
        sqs: flow?.endpoint,
        world: { ...world, isLean: client === "both" ? number % 2 === 0 : client === "lean" },
        skewMs: () => random.integer(-skewMs, skewMs),
        decide(host, request) {
          const fault = weather.decide(host, request);
          const kind = typeof fault === "object" ? JSON.stringify(fault) : fault;
          log(request, `from host ${host.number}${kind === "pass" ? "" : `: ${kind}`}`);
          return fault;
        },
        decideForQueues: (_, request) => weather.decideForQueues(request),
        onAnswer(host, request, { statusCode, isOfCopy }) {
          log(
            request,
            `from host ${host.number} is answered with ${statusCode}${isOfCopy ? " (a copy)" : ""}`,
          );
        },
        onEndedByItself: (detail) => mishaps.push({ kind: "a process ended by itself", detail }),
      }),
    );
  }
  flow?.begin();

  return {
    mode,
    random,
    hosts,
    tables,
    weather,
    flow,
    stopMs,
    leaseMs: LONGEST_MS + clockSkewSeconds * 1000 + 2 * skewMs,
    faults,
    answers,
    decisions,
    watched,
    mishaps,
    nextId,
    requests: () => hosts.reduce((sum, host) => sum + host.requests(), 0),
    async end() {
      flow?.end();
      await Promise.all(hosts.map((host) => host.end()));
      await flow?.stop();
      tables.close();
    },
  };
}
