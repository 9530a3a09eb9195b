// The options of the load: their defaults, their bounds, and reading them from a command line. Pure.
import { parseArgs } from "node:util";
import { readTarget, type Target } from "./target.ts";

export interface LoadSizes {
  /** How many different orders the clients want, over both tenants. */
  readonly orders: number;
  /** How often each order is asked for again. */
  readonly duplicates: number;
  /** How many percent of all requests ask for one key. */
  readonly hot: number;
  /** The same seed and sizes give the same plan. */
  readonly seed: number;
}

export interface LoadOptions extends LoadSizes {
  readonly connections: number;
  /** How long the traffic may last. */
  readonly seconds: number;
  readonly target: Target;
}

export const DEFAULTS = { orders: 100, duplicates: 5, hot: 20, seed: 1, connections: 8, seconds: 120 };
const MOST_REQUESTS = 100_000;

const BOUNDS: Readonly<Record<keyof typeof DEFAULTS, readonly [low: number, high: number]>> = {
  orders: [1, 10_000],
  duplicates: [0, 50],
  hot: [0, 80],
  seed: [0, 2 ** 32 - 1],
  connections: [1, 128],
  seconds: [1, 3600],
};

export const USAGE = `usage: npm run load -- [options]

Asks the sample's order service for orders over many connections, each order several times, and counts the effects.
Ends with status 0 if there is exactly one order, payment and charge for each key of each tenant (no payment and no
charge where the card is declined) and one answer for all who asked, and 1 if not. No threshold is about time.

  --orders <number>       different orders, half of them each tenant's (default ${DEFAULTS.orders})
  --duplicates <number>   how often each order is asked for again, half of them at once (default ${DEFAULTS.duplicates})
  --hot <percent>         share of all requests that ask for one key (default ${DEFAULTS.hot})
  --connections <number>  requests that are under way at once (default ${DEFAULTS.connections})
  --seconds <number>      how long the traffic may take; it ends when all is asked (default ${DEFAULTS.seconds})
  --seed <number>         the same seed and sizes give the same requests (default ${DEFAULTS.seed})
  --help                  this text

The sample is started for the run, and stopped in the end:
  --faults                lose answers of DynamoDB and SQS and throttle writes, as the demo does
  --app <folder>          run another CDK app, or the cdk.out of one

Or it runs already, by npm start, on this machine:
  --url <url>             its API; what this shows is counted, and with the next two all the rest
  --dynamodb <url>        its DynamoDB
  --sqs <url>             any of its queues

AWS_ENDPOINT_URL_DYNAMODB, if set, is used for the sample that is started.`;

/** @throws Error that names the option, its rule and the value it got */
export function readOptions(args: readonly string[]): LoadOptions | "help" {
  const text = { type: "string" } as const;
  const numbers = {
    orders: text,
    duplicates: text,
    hot: text,
    seed: text,
    connections: text,
    seconds: text,
  };
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...numbers,
      url: text,
      dynamodb: text,
      sqs: text,
      app: text,
      faults: { type: "boolean" },
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return "help";
  const numberOf = (name: keyof typeof DEFAULTS) => readNumber(name, values[name]);
  const options = {
    orders: numberOf("orders"),
    duplicates: numberOf("duplicates"),
    hot: numberOf("hot"),
    seed: numberOf("seed"),
    connections: numberOf("connections"),
    seconds: numberOf("seconds"),
    target: readTarget(values),
  };
  // One more for each order: another body under its key.
  const requests = Math.ceil((options.orders * (2 + options.duplicates)) / (1 - options.hot / 100));
  if (requests <= MOST_REQUESTS) return options;
  throw new Error(
    `--orders, --duplicates and --hot may make at most ${MOST_REQUESTS} requests; got ${requests}`,
  );
}

function readNumber(name: keyof typeof DEFAULTS, given: string | undefined): number {
  if (given === undefined) return DEFAULTS[name];
  const [low, high] = BOUNDS[name];
  const number = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (number >= low && number <= high) return number;
  throw new Error(`--${name} must be a whole number from ${low} to ${high}; got "${given}"`);
}
