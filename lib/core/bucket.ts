/** Requests to a bucket: the client's shape, the rules for its options, and how long a request may last. */
import { askWithin } from "./answer-within.ts";
import { type Clock, systemClock } from "./clock.ts";
import { type Check, methods } from "./option-checks.ts";

/** The `S3` of `@aws-sdk/client-s3`, of any version 3. */
export interface S3Like {
  putObject(
    input: { Bucket: string; Key: string; Body: string; ContentType: string },
    options: { abortSignal?: AbortSignal },
  ): Promise<unknown>;
  getObject(
    input: { Bucket: string; Key: string },
    options: { abortSignal?: AbortSignal },
  ): Promise<{ readonly Body?: { transformToString(): Promise<string> } | undefined }>;
}

export const BUCKET_CHECKS = {
  bucket: [
    "must be the name of a bucket",
    (value) => typeof value === "string" && /^(?!undefined$|null$)[a-z\d][a-z\d.-]{1,61}[a-z\d]$/.test(value),
  ],
  client: methods("putObject", "getObject"),
  prefix: [
    "must be a string of at most 800 characters: letters, digits and !-_.*'()/",
    (value) => typeof value === "string" && /^[\w!.*'()/-]{0,800}$/.test(value),
  ],
  minBytes: [
    "must be a whole number of bytes between 1 and 1000000",
    (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1_000_000,
  ],
} satisfies Readonly<Record<string, Check>>;

/** Larger texts go to the bucket. Up to this size, a text fits into every destination and every table item. */
export const BUCKET_MIN_BYTES = 200_000;

/** Longer than an object of several megabytes needs. A client without timeouts may never respond. */
const PATIENCE_MS = 30_000;

/** Rejects with a TimeoutError, and aborts the request, if there is no response in time. */
export function withinPatience<T>(
  ask: (signal: AbortSignal) => Promise<T>,
  {
    ms = PATIENCE_MS,
    signal,
    clock = systemClock,
  }: { ms?: number; signal?: AbortSignal | undefined; clock?: Clock } = {},
): Promise<T> {
  const late = () => new DOMException(`no response within ${ms / 1000} s`, "TimeoutError");
  return askWithin(clock, ms, ask, late, signal);
}
