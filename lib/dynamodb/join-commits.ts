/** Which commits fit in one transaction, and which of its cancellation reasons belong to each. No I/O. */
import type { CancellationReason, TransactWriteItem } from "@aws-sdk/client-dynamodb";
import type { DynamoDBInputs } from "./connection.ts";
import type { RecordTable } from "./record-table.ts";
import { type Item, sizeOf } from "./values.ts";

/** https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html */
const MAX_ACTIONS = 100;

/** A quarter of a transaction's limit: a large commit finishes sooner by itself. */
const MAX_BYTES = 1024 * 1024;

export type Commit = DynamoDBInputs["TransactWriteItems"];

interface Transaction<Each> {
  readonly commits: Each[];
  readonly targets: Set<string>;
  actions: number;
  bytes: number;
}

/**
 * Divides commits into transactions in which no two write the same item. Two puts can still do so undetected: DynamoDB then
 * refuses their transaction, and each commit is tried by itself.
 */
export function joinCommits<Each extends { readonly input: Commit }>(
  table: RecordTable,
  commits: readonly Each[],
): readonly (readonly Each[])[] {
  const all = commits.map(actionsOf);
  const keyNames = new Map([[table.TableName, Object.keys(table.keyOf(""))]]);
  for (const [tableName, , key] of all.flat().map(partsOf))
    if (key) keyNames.set(tableName, Object.keys(key));
  const transactions: Transaction<Each>[] = [];
  for (const [index, commit] of commits.entries()) {
    const actions = all[index] as readonly TransactWriteItem[];
    const targets = actions.flatMap((action) => targetOf(action, keyNames) ?? []);
    const bytes = sizeOf(actions);
    const fitting = transactions.find(
      (each) =>
        each.actions + actions.length <= MAX_ACTIONS &&
        each.bytes + bytes <= MAX_BYTES &&
        !targets.some((target) => each.targets.has(target)),
    );
    const transaction = fitting ?? { commits: [], targets: new Set<string>(), actions: 0, bytes: 0 };
    if (!fitting) transactions.push(transaction);
    transaction.commits.push(commit);
    transaction.actions += actions.length;
    transaction.bytes += bytes;
    for (const target of targets) transaction.targets.add(target);
  }
  return transactions.map((each) => each.commits);
}

export function actionsOf({ input }: { readonly input: Commit }): readonly TransactWriteItem[] {
  return input.TransactItems ?? [];
}

/** The reasons of each commit, in its own order; `undefined` if they don't fit the transaction. */
export function reasonsOfEach(
  commits: readonly { readonly input: Commit }[],
  reasons: readonly CancellationReason[] | undefined,
): readonly (readonly CancellationReason[])[] | undefined {
  let from = 0;
  const each = commits.map((commit) => {
    const next = from + actionsOf(commit).length;
    const own = reasons?.slice(from, next) ?? [];
    from = next;
    return own;
  });
  return reasons?.length === from ? each : undefined;
}

function partsOf(action: TransactWriteItem): readonly [tableName: string, item: Item, key: Item | undefined] {
  const { Put, Update, Delete, ConditionCheck } = action;
  const keyed = Update ?? Delete ?? ConditionCheck;
  return [`${(Put ?? keyed)?.TableName}`, Put?.Item ?? keyed?.Key ?? {}, keyed?.Key];
}

function targetOf(
  action: TransactWriteItem,
  keyNames: ReadonlyMap<string, readonly string[]>,
): string | undefined {
  const [tableName, item] = partsOf(action);
  const names = keyNames.get(tableName);
  return names && JSON.stringify([tableName, ...[...names].sort().map((name) => item[name])]);
}
