export { IdempotencyTable, type IdempotencyTableProps } from "./idempotency-table.ts";
export { UseIdempotency } from "./use-idempotency.ts";
