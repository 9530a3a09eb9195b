/** "onceonly/client": the caller's side. Runs in browsers and Node; imports nothing outside this folder. */
export type { IdempotentFetchErrorCode } from "./errors.ts";
export { IdempotentFetchDeadlineError, IdempotentFetchError, InvalidOptionError } from "./errors.ts";
export type { IdempotentFetch } from "./idempotent-fetch.ts";
export { createIdempotencyKey, createIdempotentFetch, idempotentFetch } from "./idempotent-fetch.ts";
export type { IdempotentFetchInit, IdempotentFetchOptions } from "./options.ts";
export { wasReplayed } from "./was-replayed.ts";
