/**
 * Sends a request to DynamoDB. Returns the item whose condition refused the write, and the database's time; classifies the
 * SDK's errors.
 */
import type { CancellationReason, Put } from "@aws-sdk/client-dynamodb";
import { type StoreFailure, StoreUnavailableError, TransactionConditionError } from "../core/errors.ts";
import type { Connection, DynamoDBAnswer, DynamoDBInputs, OperationName } from "./connection.ts";
import type { RecordTable } from "./record-table.ts";
import { serviceText, tablesOf } from "./service-text.ts";
import { fromItem, type Item } from "./values.ts";

export type Sent<Name extends OperationName> = Partial<DynamoDBAnswer<Name>> & {
  /** The item whose condition refused the write; empty if there is none. */
  readonly refusedBy?: Item;
};

/** @throws TransactionConditionError, StoreUnavailableError */
export async function send<Name extends OperationName>(
  connection: Connection,
  operation: Name,
  input: DynamoDBInputs[Name],
): Promise<Sent<Name>> {
  try {
    return (await connection.send(operation, input)) as Sent<Name>;
  } catch (error) {
    return { refusedBy: readRefusedItem(error, operation, input) } as Sent<Name>;
  }
}

/** Fields that the SDK's errors may have. */
export interface ClientError {
  readonly name: string;
  readonly message: string;
  readonly Item?: Item;
  readonly CancellationReasons?: readonly CancellationReason[];
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number };
}

/** Matched against the codes of all reasons, or an error's name and status; the first match wins. */
const FAILURES: readonly (readonly [RegExp, StoreFailure])[] = [
  [/Validation|AccessDenied|ItemCollectionSize|Duplicate|Credentials|EndpointError|Region/, "refused"],
  [/Throttl|Throughput|RequestLimit|TooMany| 429/, "throttled"],
  [/Conflict|InProgress|ParameterMismatch|Canceled/, "conflict"],
  // All other request mistakes. 408 and 425 come from the network path.
  [/ 4(?!08|25)/, "refused"],
  // An error without a name: the request may have been applied, and the failure may be temporary.
  [/^/, "unreachable"],
];

/** An item of more than 400 KB. */
const TOO_LARGE = /item size .*exceeded/i;

function isTooLarge({ message, CancellationReasons }: ClientError): boolean {
  const texts = [message, ...(CancellationReasons ?? []).map(({ Message }) => Message)];
  return texts.some((text) => TOO_LARGE.test(`${text}`));
}

/**
 * The item whose own condition was not met; empty if there is none.
 * @throws TransactionConditionError when one of the caller's writes was refused, StoreUnavailableError for every failure.
 */
function readRefusedItem(error: unknown, action: OperationName, input: object): Item {
  const { message, Item, CancellationReasons, $metadata = {} } = error as ClientError;
  // A client without a region sends nothing, and its error has a generic name.
  const name = message === "Region is missing" ? message : (error as ClientError).name;
  const reasons = CancellationReasons ?? [{ Code: `${name} ${$metadata.httpStatusCode}`, Item }];
  const codes = reasons.map(({ Code }) => Code ?? "None");
  const refused = codes.findIndex((code) => code.startsWith("ConditionalCheckFailed"));
  const item = reasons[refused]?.Item;
  // The usual end of a replay: the error goes no further.
  if (refused === 0) return item ?? {};
  for (const holder of [error, ...(CancellationReasons ?? [])]) hideItem(holder as Pick<ClientError, "Item">);
  // A refusal of the caller's condition counts only if the record's condition held. If the record wasn't checked, the caller's
  // condition may have met an earlier try of this same transaction.
  // An earlier try may have been applied, or may still be under way.
  const isRepeated = ($metadata.attempts ?? 1) > 1;
  if (refused > 0 && codes[0] === "None") {
    throw new TransactionConditionError(refused - 1, item && fromItem(item), error, isRepeated);
  }
  const failure = FAILURES.find(([pattern]) => pattern.test(codes.join()))?.[1] as StoreFailure;
  const actions = (input as Partial<DynamoDBInputs["TransactWriteItems"]>).TransactItems ?? [
    { Put: input as Put },
  ];
  const unavailable = new StoreUnavailableError(
    isRepeated && failure === "refused" ? "unreachable" : failure,
    error,
    describe(error as ClientError, name, actions),
    { action, table: tablesOf(actions) },
  );
  if (unavailable.failure === "refused" && isTooLarge(error as ClientError))
    unavailable.refusesContent = true;
  throw unavailable;
}

/** The service's own message, or the reasons for which it canceled a transaction. */
function describe(
  { message, CancellationReasons }: ClientError,
  name: string,
  actions: Parameters<typeof serviceText>[2],
): string {
  if (!CancellationReasons) return serviceText(name, `${message}`, actions);
  const reasons = CancellationReasons.flatMap(({ Code = "None", Message }) =>
    Code === "None" ? [] : serviceText(Code, Message ?? "", actions),
  );
  return `${name}: ${[...new Set(reasons)].join(", ") || "no reason"}`;
}

/** An item may contain personal data, so printing the error must not print it. A frozen error stays unchanged. */
function hideItem(holder: Pick<ClientError, "Item">): void {
  if (holder.Item) Reflect.defineProperty(holder, "Item", { enumerable: false });
}

/** An index of only the records that have its keys, divided into shards. */
export interface SparseIndex {
  readonly name: string;
  /** Partition key, a number. */
  readonly shard: "unsentShard" | "unsettledShard";
  /** Sort key, a number: epoch ms. */
  readonly since: "unsentSince" | "unsettledSince";
}

/** DynamoDB's error names neither the table nor its missing keys. */
export async function explained<Answer>(
  { TableName, names }: RecordTable,
  { name, shard, since }: SparseIndex,
  answer: Promise<Answer>,
): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    const { cause } = error as StoreUnavailableError;
    const code = cause instanceof Error ? cause.name : "";
    if (!/^(?:ValidationException|ResourceNotFoundException)$/.test(code)) throw error;
    const needs = `the key ${names.partitionKey}, and the index ${name} of the numbers ${names[shard]} and ${names[since]}`;
    throw new StoreUnavailableError("refused", cause, `${code}: the table ${TableName} must have ${needs}`);
  }
}
