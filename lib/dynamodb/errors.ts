/** The one place that reads the SDK's errors: whose condition refused a write, or why the store failed. */
import { unmarshall } from "@aws-sdk/util-dynamodb";
import { type StoreFailure, StoreUnavailableError, TransactionConditionError } from "../core/errors.ts";
import type { Item } from "./record-table.ts";

/** What the SDK's errors may carry. */
interface ClientError {
  readonly name: string;
  readonly Item?: Item;
  readonly CancellationReasons?: readonly { readonly Code?: string; readonly Item?: Item }[];
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number };
}

/** By the names of errors and of cancellation reasons; the first that matches. */
const FAILURES: readonly (readonly [RegExp, StoreFailure])[] = [
  [/Validation|AccessDenied|ItemCollectionSize|Duplicate|Credentials/, "refused"],
  [/Throttl|Throughput|RequestLimit|TooManyRequests/, "throttled"],
  [/Conflict|InProgress|ParameterMismatch|Canceled/, "conflict"],
];

/**
 * The item that refused, when the condition on the record itself was not met; empty if there is none.
 * @throws TransactionConditionError when one of the caller's writes was refused, StoreUnavailableError for
 * every failure.
 */
export function readRefusedItem(error: unknown): Item {
  const { name, Item, CancellationReasons, $metadata } = error as ClientError;
  const reasons = CancellationReasons ?? [{ Code: name, Item }];
  const refused = reasons.findIndex(({ Code }) => /^ConditionalCheckFailed/.test(Code ?? ""));
  const item = reasons[refused]?.Item;
  if (refused === 0) return item ?? {};
  // A caller's refusal counts only if the record did not refuse: where it could not be asked, an earlier
  // try of this very transaction may be what the caller's condition ran into.
  if (refused > 0 && /None/.test(reasons[0]?.Code ?? "None")) {
    throw new TransactionConditionError(
      refused - 1,
      item && unmarshall(item, { wrapNumbers: readNumber }),
      error,
    );
  }
  const names = reasons.map(({ Code }) => Code).join();
  const known = FAILURES.find(([pattern]) => pattern.test(names))?.[1];
  // What says nothing of itself counts as unreachable: it may have been applied, and may pass.
  const isOurs = !CancellationReasons && /^4/.test(`${$metadata?.httpStatusCode}`);
  const failure = known ?? (isOurs ? "refused" : "unreachable");
  // A try before this one may have been applied.
  const isRepeated = ($metadata?.attempts ?? 1) > 1;
  throw new StoreUnavailableError(isRepeated && failure === "refused" ? "unreachable" : failure, error);
}

/** What a JavaScript number cannot hold exactly must not hide the refusal behind an error of its own. */
function readNumber(text: string): number | bigint {
  const isExact = Number.isSafeInteger(Number(text)) || !/^-?\d+$/.test(text);
  return isExact ? Number(text) : BigInt(text);
}
