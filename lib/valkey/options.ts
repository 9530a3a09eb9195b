/** The options of a ValkeyStore: the client, the key names, and which server risks are accepted. */
import { InvalidOptionError } from "../core/errors.ts";
import { type Check, checkOptions, instance, isNamed, seconds } from "../core/option-checks.ts";
import type { ValkeyClient } from "./valkey-client.ts";

/**
 * Ways in which a server may lose records. `evicts-records`: it deletes keys when memory is short (`maxmemory-policy`).
 * `memory-only`: it has no append-only file, so a restart empties it or goes back to a snapshot. `unreported`: it doesn't report its
 * configuration.
 */
export const VALKEY_RISKS = ["evicts-records", "memory-only", "unreported"] as const;
export type ValkeyRisk = (typeof VALKEY_RISKS)[number];

/** Which servers must have a write before the store reports it as made. */
export interface Acknowledgement {
  /** The number of replicas (`WAIT`): from 0 to 10. 0 needs `onDisk`. */
  readonly replicas: number;
  /**
   * How long they have, in ms: from 1 to 60000. A write that fewer replicas have by then counts as failed, and may have been
   * applied.
   */
  readonly timeoutMs: number;
  /**
   * Also waits until the primary and these replicas have the write on disk (`WAITAOF`). Needs Valkey, or Redis 7.2 or later.
   * @default false
   */
  readonly onDisk?: boolean;
}

export interface ValkeyStoreOptions {
  /**
   * The connection to the server: `fromIoredis(client)`, `fromNodeRedis(client)` or `fromGlide(client)`. That client's timeouts
   * apply.
   */
  readonly client: ValkeyClient;
  /**
   * Prefix of every key of the store. A different prefix is a different store. 1 to 100 characters without braces.
   * @default "onceonly"
   */
  readonly prefix?: string;
  /**
   * Puts all records into one slot of a cluster: that of keys with `{hashTag}` in their names. A commit can write only such
   * keys. Leave it out without a cluster. 1 to 100 characters without braces.
   * @default - the records are spread over 256 slots
   */
  readonly hashTag?: string;
  /**
   * How long a record stays after its retention, in seconds: from 60 to 2592000. During that time, a late use of a key is
   * reported as `key-expired`. The clocks of callers and server may differ by that much.
   * @default 3600
   */
  readonly keepExpiredSeconds?: number;
  /**
   * Waits until replicas, or disks, have each write: without it, a failover loses the last writes. The wait delays the client's
   * other commands, so give the store a separate client. In a cluster it follows moved slots and promoted replicas.
   * @default - no write waits
   */
  readonly acknowledgedBy?: Acknowledgement;
  /**
   * Names of the risks that you accept on this server. With any other risk, the first call is refused.
   * @default []
   */
  readonly acceptedRisks?: readonly ValkeyRisk[];
}

export const VALKEY_DEFAULTS = { prefix: "onceonly", keepExpiredSeconds: 3600, acceptedRisks: [] } as const;

export const valkeyPrefix: Check = [
  'must be a string of 1 to 100 characters without braces and spaces, and without "undefined" from an unset variable',
  (value) => typeof value === "string" && /^[^{}\s]{1,100}$/.test(value) && isNamed(value),
];

export const valkeyClient = instance(
  "a client, such as `fromIoredis(client)`, `fromNodeRedis(client)` or `fromGlide(client)`",
  "send",
);

const CHECKS: Readonly<Record<keyof ValkeyStoreOptions, Check>> = {
  client: valkeyClient,
  prefix: valkeyPrefix,
  hashTag: valkeyPrefix,
  keepExpiredSeconds: seconds(60, 2_592_000),
  acknowledgedBy: [
    "must be { replicas, timeoutMs, onDisk }: 0 to 10 replicas (0 only with `onDisk: true`), 1 to 60000 ms, and true or false",
    isAcknowledgement,
  ],
  acceptedRisks: [
    `must be an array of ${VALKEY_RISKS.map((risk) => `"${risk}"`).join(", ")}`,
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
    "needs a client with `sendTogether`: pass the batch class too, as in `fromGlide(client, Batch)`",
  );
}
