/** Records that are read together. https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchGetItem.html */
import type { GetItemInput } from "@aws-sdk/client-dynamodb";
import type { Member } from "./gatherer.ts";
import { type GroupSender, isForGood, sendAlone } from "./group-sender.ts";
import type { Item } from "./values.ts";

export const MAX_LOOKS = 100;

/** Reads that need not be consistent. */
export async function sendLooks(
  sender: GroupSender,
  members: readonly Member<GetItemInput>[],
): Promise<void> {
  const [first] = members;
  if (members.length === 1) return sendAlone(sender, "GetItem", first as Member<GetItemInput>);
  const found = await lookUp(
    sender,
    members.map(({ input }) => input.Key as Item),
    false,
  );
  for (const [index, member] of members.entries()) {
    const look = found?.[index];
    if (look?.isKnown) member.resolve({ Item: look.item } as never);
    else void sendAlone(sender, "GetItem", member);
  }
}

export interface Look {
  /** False if DynamoDB left the key unprocessed. */
  readonly isKnown: boolean;
  readonly item: Item | undefined;
}

/** In the order of the keys; `undefined` if the request failed. */
export async function lookUp(
  { connection, table, refuse }: GroupSender,
  keys: readonly Item[],
  ConsistentRead: boolean,
): Promise<readonly Look[] | undefined> {
  const { TableName, names } = table;
  const pkOf = (item: Item) => item[names.partitionKey]?.S;
  const distinct = new Map(keys.map((key) => [pkOf(key), key]));
  try {
    const answer = await connection.send("BatchGetItem", {
      RequestItems: { [TableName]: { Keys: [...distinct.values()], ConsistentRead } },
    });
    const items = new Map(answer.Responses?.[TableName]?.map((item) => [pkOf(item), item]));
    const left = new Set(answer.UnprocessedKeys?.[TableName]?.Keys?.map(pkOf));
    return keys.map((key) => ({ isKnown: !left.has(pkOf(key)), item: items.get(pkOf(key)) }));
  } catch (error) {
    if (isForGood(error)) refuse("looks", error);
    return undefined;
  }
}
