/** The options of a ValkeyStore: the client, the names of its keys, and what is known of the server and accepted. */
import { InvalidOptionError } from "../core/errors.ts";
import { type Check, checkOptions, isNamed, methods, seconds } from "../core/option-checks.ts";
import type { ValkeyClient } from "./valkey-client.ts";

/**
 * What a server may be that loses records. `evicts-records`: it deletes keys where memory is short (`maxmemory-policy`).
 * `memory-only`: it has no append-only file, so that a restart empties it, or goes back to a snapshot. `untold`: it does not say
 * what it is.
 */
export const VALKEY_RISKS = ["evicts-records", "memory-only", "untold"] as const;
export type ValkeyRisk = (typeof VALKEY_RISKS)[number];

/** Who has to have a write before the store says that it was made. */
export interface Acknowledgement {
  /** The number of replicas (`WAIT`): from 0 to 10. 0 needs `onDisk`. */
  readonly replicas: number;
  /** How long they have, in ms: from 1 to 60000. A write that fewer have by then counts as failed, and may have been applied. */
  readonly timeoutMs: number;
  /**
   * The primary has it on disk, and so have these replicas (`WAITAOF`). Needs Valkey, or Redis 7.2 or later.
   * @default false
   */
  readonly onDisk?: boolean;
}

export interface ValkeyStoreOptions {
  /** Reaches the server: `fromIoredis(client)`, `fromNodeRedis(client)` or `fromGlide(client)`, with the timeouts of that client. */
  readonly client: ValkeyClient;
  /**
   * Begins each key of the store. Another prefix is another store. 1 to 100 characters without braces.
   * @default "onceonly"
   */
  readonly prefix?: string;
  /**
   * Puts all records into one slot of a cluster: that of keys with `{hashTag}` in their names. A commit can write such keys, and no
   * others. Without a cluster leave it out. 1 to 100 characters without braces.
   * @default - 256 slots share the records
   */
  readonly hashTag?: string;
  /**
   * How long a record stays after its retention, in seconds: from 60 to 2592000. For that time a late use of a key is
   * told as `key-expired`. The clocks of callers and server may differ by that much.
   * @default 3600
   */
  readonly keepExpiredSeconds?: number;
  /**
   * Waits until replicas, or disks, have each write: without it a failover loses the last ones. The wait holds up the client's
   * other commands, so give the store a client of its own. In a cluster it follows slots that move and replicas that are promoted.
   * @default - no write waits
   */
  readonly acknowledgedBy?: Acknowledgement;
  /**
   * What the server may be although it loses records, by name. Everything else is refused by the first call.
   * @default []
   */
  readonly acceptedRisks?: readonly ValkeyRisk[];
}

export const VALKEY_DEFAULTS = { prefix: "onceonly", keepExpiredSeconds: 3600, acceptedRisks: [] } as const;

export const valkeyPrefix: Check = [
  "must be 1 to 100 characters without braces and spaces, none of them from a variable that is not set",
  (value) => typeof value === "string" && /^[^{}\s]{1,100}$/.test(value) && isNamed(value),
];

const [clientRule, isClient] = methods("send");

export const valkeyClient: Check = [
  `${clientRule}: give \`fromIoredis(client)\`, \`fromNodeRedis(client)\` or \`fromGlide(client)\``,
  isClient,
];

const CHECKS: Readonly<Record<keyof ValkeyStoreOptions, Check>> = {
  client: valkeyClient,
  prefix: valkeyPrefix,
  hashTag: valkeyPrefix,
  keepExpiredSeconds: seconds(60, 2_592_000),
  acknowledgedBy: [
    "must be { replicas, timeoutMs, onDisk }: from 0 to 10 replicas (0 with `onDisk: true` only), 1 to 60000 ms, and true or false",
    isAcknowledgement,
  ],
  acceptedRisks: [
    `must be a list of ${VALKEY_RISKS.map((risk) => `"${risk}"`).join(", ")}`,
    (value) => Array.isArray(value) && value.every((risk) => VALKEY_RISKS.includes(risk)),
  ],
};

function isAcknowledgement(value: unknown): boolean {
  const { replicas, timeoutMs, onDisk = false, ...unknown } = Object(value) as Record<string, unknown>;
  const isWhole = (given: unknown, min: number, max: number) =>
    Number.isInteger(given) && (given as number) >= min && (given as number) <= max;
  return (
    isWhole(replicas, onDisk === true ? 0 : 1, 10) &&
    isWhole(timeoutMs, 1, 60_000) &&
    typeof onDisk === "boolean" &&
    Object.keys(unknown).length === 0
  );
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function checkValkeyStore(options: ValkeyStoreOptions): void {
  checkOptions(options, CHECKS, ["client"]);
  if (options.acknowledgedBy === undefined || options.client.sendTogether !== undefined) return;
  throw new InvalidOptionError(
    "acknowledgedBy",
    "needs a client with `sendTogether`: give `fromGlide(client, Batch)` the class of its batches",
  );
}
