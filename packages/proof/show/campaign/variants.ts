// The campaign's operations: which handler, with which adapter, with which options. The callers and the processes
// that answer them both read this list.
import type { EngineOptions } from "onceonly/store-kit";

/**
 * `order` commits a row. `account` commits a row under a name that only one may have, and answers 409 if it is taken.
 * `stock` commits the sale of a piece, if there is one. `outside` asks another system under a child key. `answer` only answers.
 */
export type Job = "order" | "account" | "stock" | "outside" | "answer";

export type Adapter = "run-once" | "plain" | "http" | "middy";

export type RunMode = "claimed" | "optimistic";

export interface Variant {
  /** The operation. */
  readonly name: string;
  readonly mode: RunMode;
  readonly job: Job;
  readonly adapter: Adapter;
  readonly options: Pick<EngineOptions, "lookFirst" | "whenInProgress" | "whenStoreFails">;
  /** Its handler checks whether the name is taken before it commits. */
  readonly readsFirst: boolean;
  /** Its handler turns a refused condition into its own answer, and does not throw it. */
  readonly answersRefusals: boolean;
  /** Its commits have messages. */
  readonly sends: boolean;
}

type Traits = Partial<Pick<Variant, "readsFirst" | "answersRefusals" | "sends">> & Variant["options"];
type Short = readonly [name: string, job: Job, adapter: Adapter, traits?: Traits];

const CLAIMED: readonly Short[] = [
  ["order", "order", "run-once"],
  ["order-waiting", "order", "run-once", { whenInProgress: { waitSeconds: 3 } }],
  ["order-run-anyway", "order", "run-once", { whenStoreFails: "run" }],
  ["order-plain", "order", "plain"],
  ["order-http", "order", "http"],
  ["order-http-waiting", "order", "http", { whenInProgress: { waitSeconds: 2 } }],
  ["order-middy", "order", "middy"],
  ["account-reading", "account", "run-once", { readsFirst: true }],
  ["account-http", "account", "http", { answersRefusals: true }],
  ["stock", "stock", "run-once"],
  ["stock-http", "stock", "http", { answersRefusals: true }],
  ["outside", "outside", "run-once"],
  ["outside-run-anyway", "outside", "run-once", { whenStoreFails: "run" }],
  ["answer-plain", "answer", "plain"],
  ["answer-middy", "answer", "middy", { whenInProgress: { waitSeconds: 2 } }],
];

const OPTIMISTIC: readonly Short[] = [
  ["order", "order", "run-once"],
  ["order-not-looking", "order", "run-once", { lookFirst: false }],
  ["order-run-anyway", "order", "run-once", { whenStoreFails: "run" }],
  ["order-plain", "order", "plain", { lookFirst: false }],
  ["order-http", "order", "http"],
  ["order-middy", "order", "middy", { lookFirst: false }],
  ["account-reading", "account", "run-once", { readsFirst: true }],
  ["account-reading-not-looking", "account", "run-once", { readsFirst: true, lookFirst: false }],
  ["account-http", "account", "http", { readsFirst: true, answersRefusals: true }],
  ["account-http-not-looking", "account", "http", { answersRefusals: true, lookFirst: false }],
  ["stock", "stock", "run-once"],
  ["stock-not-looking", "stock", "run-once", { lookFirst: false }],
  ["stock-http", "stock", "http", { answersRefusals: true }],
  ["answer", "answer", "run-once"],
  ["answer-http", "answer", "http", { lookFirst: false }],
];

const SENDING: readonly Short[] = [
  ["sending", "order", "run-once", { sends: true }],
  ["sending-http", "order", "http", { sends: true }],
];

export type Mode = RunMode | "messages";
export const MODES = ["claimed", "optimistic", "messages"] as const satisfies readonly Mode[];

/** The operations in each mode of the campaign. */
export const VARIANTS: Readonly<Record<Mode, readonly [Variant, ...Variant[]]>> = {
  claimed: variantsOf("claimed", CLAIMED),
  optimistic: variantsOf("optimistic", OPTIMISTIC),
  messages: [...variantsOf("claimed", SENDING), ...variantsOf("optimistic", SENDING)],
};

/** @throws Error for a name that no variant has */
export function variantOf(name: string): Variant {
  const found = Object.values(VARIANTS)
    .flat()
    .find((variant) => variant.name === name);
  if (!found) throw new Error(`the campaign has no operation ${name}`);
  return found;
}

function variantsOf(mode: RunMode, shorts: readonly Short[]): [Variant, ...Variant[]] {
  return shorts.map(([name, job, adapter, traits = {}]) => {
    const { readsFirst = false, answersRefusals = false, sends = false, ...options } = traits;
    return { name: `${mode}-${name}`, mode, job, adapter, options, readsFirst, answersRefusals, sends };
  }) as [Variant, ...Variant[]];
}

/** Whether its effect is in the transaction that records its result. */
export function commits({ job }: Variant): boolean {
  return job === "order" || job === "account" || job === "stock";
}
