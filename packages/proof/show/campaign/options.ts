// The campaign's options: their defaults, their bounds, and reading them from a command line. Pure.
import { randomInt } from "node:crypto";
import { parseArgs } from "node:util";
import { DYNAMODB_ENGINES, type DynamoDBEngineName } from "../../../local/lib/dynamodb-engine.ts";
import { MODES, type Mode } from "./variants.ts";

export interface CampaignOptions {
  readonly modes: readonly Mode[];
  /** The whole run: controls, storms and calms. */
  readonly minutes: number;
  /** The same seed draws the same keys, moods and faults; which of them coincide depends on real time. */
  readonly seed: number;
  /** Processes that answer calls, for each mode. */
  readonly hosts: number;
  /** Keys that are asked for in a second of a storm, for each mode. */
  readonly rate: number;
  /** Whether clocks stay within `clockSkewSeconds` of each other. */
  readonly skew: "within" | "beyond";
  /** Only operations whose name has this in it. */
  readonly only: string;
  readonly control: "first" | "only" | "none";
  /** The database client: the SDK, `onceonly/lean`, or each in every other process. */
  readonly client: (typeof CLIENTS)[number];
  readonly engine: DynamoDBEngineName | undefined;
  /** The file that gets the summary, as JSON. */
  readonly summary: string | undefined;
}

const CLIENTS = ["sdk", "lean", "both"] as const;

const BOUNDS = { minutes: [0.25, 600], seed: [0, 2 ** 32 - 1], hosts: [2, 32], rate: [1, 100] } as const;
const DEFAULTS = { minutes: 2, hosts: 5, rate: 6 };

export const USAGE = `usage: npm run campaign -- [options]

Runs operations in real processes that are killed, stopped and cut off, over a proxy that loses, delays and repeats
requests, and judges each answer that anybody got against what is written. Each mode begins with its control, a store
without a fence, in which something must be found. Ends with status 0 if there is no violation and each control found
one, and 1 if not.

  --mode <name>       ${MODES.join(", ")} or all, beside each other (default all)
  --minutes <number>  how long, with all that belongs to it (default ${DEFAULTS.minutes})
  --seed <number>     draws keys, moods and faults (default random, and printed)
  --hosts <number>    processes for each mode (default ${DEFAULTS.hosts})
  --rate <number>     keys that are asked for in a second, for each mode (default ${DEFAULTS.rate})
  --skew <kind>       within: clocks as far apart as clockSkewSeconds allows; beyond: further (default within)
  --only <text>       only operations whose name has it, to look for one thing (default all)
  --control <when>    first, only or none (default first)
  --client <name>     sdk, lean or both, each in every other process (default both)
  --engine <name>     ${DYNAMODB_ENGINES.join(" or ")} (default the first that is found)
  --summary <path>    writes the summary as JSON
  --help              this text

AWS_ENDPOINT_URL_DYNAMODB, if set, is used instead of an engine of the campaign's own; it must be on this machine.`;

/** @throws Error that names the option, its rule and the value it got */
export function readOptions(args: readonly string[]): CampaignOptions | "help" {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      mode: text,
      minutes: text,
      seed: text,
      hosts: text,
      rate: text,
      skew: text,
      only: text,
      control: text,
      client: text,
      engine: text,
      summary: text,
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return "help";
  const mode = oneOf("mode", values.mode, ["all", ...MODES]) ?? "all";
  return {
    modes: mode === "all" ? MODES : [mode],
    minutes: numberOf("minutes", values.minutes) ?? DEFAULTS.minutes,
    seed: numberOf("seed", values.seed) ?? randomInt(2 ** 32),
    hosts: numberOf("hosts", values.hosts) ?? DEFAULTS.hosts,
    rate: numberOf("rate", values.rate) ?? DEFAULTS.rate,
    skew: oneOf("skew", values.skew, ["within", "beyond"]) ?? "within",
    only: values.only ?? "",
    control: oneOf("control", values.control, ["first", "only", "none"]) ?? "first",
    client: oneOf("client", values.client, CLIENTS) ?? "both",
    engine: oneOf("engine", values.engine, DYNAMODB_ENGINES),
    summary: values.summary,
  };
}

function oneOf<T extends string>(
  name: string,
  given: string | undefined,
  choices: readonly T[],
): T | undefined {
  const found = choices.find((choice) => choice === given);
  if (given === undefined || found !== undefined) return found;
  throw new Error(`--${name} must be one of ${choices.join(", ")}; got "${given}"`);
}

function numberOf(name: keyof typeof BOUNDS, given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const [low, high] = BOUNDS[name];
  const isFraction = name === "minutes" ? /^\d+(\.\d+)?$/ : /^\d+$/;
  const number = isFraction.test(given) ? Number(given) : Number.NaN;
  if (number >= low && number <= high) return number;
  const kind = name === "minutes" ? "number" : "whole number";
  throw new Error(`--${name} must be a ${kind} from ${low} to ${high}; got "${given}"`);
}
