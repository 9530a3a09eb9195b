// The demo's options: their defaults, their bounds, and reading them from a command line. Pure.
import { parseArgs } from "node:util";

export interface DemoOptions {
  /** How many different orders the clients want, over both tenants. */
  readonly orders: number;
  /** How often an order that is asked for again is asked for again. */
  readonly duplicates: number;
  /** The same seed and sizes give the same plan. */
  readonly seed: number;
}

export interface CommandLine extends DemoOptions {
  /** The folder of another build of the sample. @default - the sample */
  readonly app?: string | undefined;
  /** The file that gets the run as a page. @default - none */
  readonly html?: string | undefined;
  /** Whether to play only the plan without onceonly. */
  readonly without: boolean;
}

export const DEFAULTS: DemoOptions = { orders: 120, duplicates: 3, seed: 1 };

const BOUNDS: Readonly<Record<keyof DemoOptions, readonly [low: number, high: number]>> = {
  orders: [1, 10_000],
  duplicates: [1, 12],
  seed: [0, 2 ** 32 - 1],
};

export const USAGE = `usage: npm run demo -- [options]

Runs the sample on local engines, from order to payment, under duplicates, kills, lost answers, outages, redeliveries
and redrives, and counts the effects: with onceonly, and without. Ends with status 0 if onceonly made exactly
one order, one payment and one charge for each key of each tenant (no payment and no charge where the card is declined),
and if stock, charges, refunds and shipments balance with the orders of its sagas; with 1 if not. The run without onceonly changes no status.

  --orders <number>      different orders that the clients want (default ${DEFAULTS.orders})
  --duplicates <number>  how often a repeated order is asked for again (default ${DEFAULTS.duplicates})
  --seed <number>        the same seed gives the same plan (default ${DEFAULTS.seed})
  --without              only the run without onceonly
  --app <folder>         another CDK app to run, or the cdk.out of one, and nothing without onceonly
  --html <file>          also write the run as one page: a timeline, the table and the verdict
  --help                 this text

AWS_ENDPOINT_URL_DYNAMODB, if set, is used instead of an engine of the demo's own.`;

/** @throws Error that names the option, its rule and the value it got */
export function readOptions(args: readonly string[]): CommandLine | "help" {
  const text = { type: "string" } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      orders: text,
      duplicates: text,
      seed: text,
      without: { type: "boolean", default: false },
      app: text,
      html: text,
      help: { type: "boolean", short: "h" },
    },
  });
  if (values.help) return "help";
  const numberOf = (name: keyof DemoOptions) => readNumber(name, values[name]);
  const { app, html, without } = values;
  if (html === "") throw new Error("--html takes the name of a file");
  if (without && app !== undefined) {
    throw new Error("--without runs the functions of the sample: give either --without or --app");
  }
  return {
    orders: numberOf("orders"),
    duplicates: numberOf("duplicates"),
    seed: numberOf("seed"),
    without,
    ...(app !== undefined && { app }),
    ...(html !== undefined && { html }),
  };
}

function readNumber(name: keyof DemoOptions, given: string | undefined): number {
  if (given === undefined) return DEFAULTS[name];
  const [low, high] = BOUNDS[name];
  const number = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (number >= low && number <= high) return number;
  throw new Error(`--${name} must be a whole number from ${low} to ${high}; got "${given}"`);
}
