/** Identifies errors by code: `instanceof` fails between two copies of the package, a store's and a handler's. */
import {
  isOnceonlyError,
  type OnceonlyError,
  type StoreUnavailableError,
  type TransactionConditionError,
} from "./errors.ts";

export function hasCode<Code extends string>(
  error: unknown,
  code: Code,
): error is OnceonlyError & { code: Code } {
  return isOnceonlyError(error) && error.code === code;
}

/** Whether the store failed so that the request may be repeated, and the handler's own answer counts. */
export function isStoreFailure(error: unknown): error is StoreUnavailableError {
  return hasCode(error, "STORE_UNAVAILABLE") && !(error as StoreUnavailableError).isRolledBack;
}

export function isRefusedCondition(error: unknown): error is TransactionConditionError {
  return hasCode(error, "TRANSACTION_CONDITION");
}
