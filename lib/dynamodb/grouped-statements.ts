/**
 * First claims and completions, sent as PartiQL statements: one request holds up to 25 and decides each separately.
 * https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-reference.multiplestatements.batching.html
 */
import type { BatchStatementError, BatchStatementRequest } from "@aws-sdk/client-dynamodb";
import type { DynamoDBInputs } from "./connection.ts";
import type { Member } from "./gatherer.ts";
import { conditionRefused, type GroupSender, isDoubtful, isForGood, sendAlone } from "./group-sender.ts";
import { lookUp } from "./grouped-looks.ts";
import type { Item } from "./values.ts";

export const MAX_STATEMENTS = 25;

/** A request, and the equivalent statement. */
export type Stated = {
  readonly statement: BatchStatementRequest;
  readonly key: Item;
} & (
  | { readonly operation: "PutItem"; readonly input: DynamoDBInputs["PutItem"] }
  | { readonly operation: "UpdateItem"; readonly input: DynamoDBInputs["UpdateItem"] }
);

export async function sendStatements(sender: GroupSender, all: readonly Member<Stated>[]): Promise<void> {
  const [members, again] = withoutRepetitions(sender, all);
  for (const member of again) void statedAlone(sender, member);
  const [first] = members;
  if (members.length === 1) return statedAlone(sender, first as Member<Stated>);
  const answer = await askAll(sender, members);
  if (answer === undefined) return;
  refuseForGood(sender, answer.errors);
  const duplicates: Member<Stated>[] = [];
  for (const [index, member] of members.entries()) {
    const error = answer.errors[index];
    if (!error) member.resolve({ serverTimeMs: answer.serverTimeMs } as never);
    else if (error.Code === "DuplicateItem") duplicates.push(member);
    else if (error.Code === "ConditionalCheckFailed" && error.Item)
      member.reject(conditionRefused(error.Item));
    else void statedAlone(sender, member, error.Code === "InternalServerError");
  }
  if (duplicates.length > 0) void answerDuplicates(sender, duplicates);
}

/** Returns the error of each statement, if any; `undefined` if the request failed and each is sent by itself. */
async function askAll(sender: GroupSender, members: readonly Member<Stated>[]) {
  try {
    const answer = await sender.connection.send("BatchExecuteStatement", {
      Statements: members.map(({ input }) => input.statement),
    });
    if (answer?.Responses?.length !== members.length) throw new Error("not every statement has an answer");
    return { errors: answer.Responses.map((response) => response.Error), serverTimeMs: answer.serverTimeMs };
  } catch (error) {
    if (isForGood(error)) sender.refuse("statements", error);
    for (const member of members) void statedAlone(sender, member, isDoubtful(error));
    return undefined;
  }
}

/** One DynamoDB engine carries out the first of two statements about one item, yet refuses both. */
function withoutRepetitions({ table }: GroupSender, all: readonly Member<Stated>[]) {
  const seen = new Set<string | undefined>();
  const isFirst = ({ input }: Member<Stated>) => {
    const key = input.key[table.names.partitionKey]?.S;
    return !seen.has(key) && seen.add(key);
  };
  const members = all.filter(isFirst);
  return [members, all.filter((member) => !members.includes(member))] as const;
}

/** The next group would fail in the same way, for lack of a permission or because no statement is understood. */
function refuseForGood({ refuse }: GroupSender, errors: readonly (BatchStatementError | undefined)[]): void {
  const denied = errors.find((error) => error?.Code === "AccessDenied");
  const isUnknown = errors.every((error) => error?.Code === "ValidationError");
  const cause = denied ?? (isUnknown ? errors[0] : undefined);
  if (cause) refuse("statements", Object.assign(new Error(cause.Message), { name: cause.Code }));
}

/** DynamoDB refuses an insertion without returning the existing item. An item deleted since no longer refuses anything. */
async function answerDuplicates(sender: GroupSender, members: readonly Member<Stated>[]): Promise<void> {
  const found = sender.canLook
    ? await lookUp(
        sender,
        members.map(({ input }) => input.key),
        true,
      )
    : undefined;
  for (const [index, member] of members.entries()) {
    const look = found?.[index];
    if (look?.isKnown) member.reject(conditionRefused(look.item));
    else void statedAlone(sender, member);
  }
}

function statedAlone(
  sender: GroupSender,
  { input: { operation, input }, ...member }: Member<Stated>,
  inDoubt = false,
): Promise<void> {
  return operation === "PutItem"
    ? sendAlone(sender, operation, { ...member, input }, inDoubt)
    : sendAlone(sender, operation, { ...member, input }, inDoubt);
}
