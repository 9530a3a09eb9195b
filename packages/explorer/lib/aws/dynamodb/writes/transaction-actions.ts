/** One action of a transaction: a put, an update, a delete or a check. */
import { invalid } from "../dynamodb-error.ts";
import type { TransactWriteItem } from "../item-operations.ts";
import { type Bind, readCheck, readDelete, readPut, readUpdate } from "./write-inputs.ts";

const KINDS = ["Put", "Update", "Delete", "ConditionCheck"] as const;

/** @throws DynamoDBError `ValidationException` */
export function readAction(action: TransactWriteItem): Bind {
  const given = KINDS.filter((kind) => action[kind] !== undefined && action[kind] !== null);
  if (given.length !== 1) {
    throw invalid("TransactItems can only contain one of Check, Put, Update or Delete");
  }
  if (action.Put) return readPut(action.Put);
  if (action.Delete) return readDelete(action.Delete);
  if (action.Update) {
    if (action.Update.UpdateExpression === undefined) throw missing("update.updateExpression");
    return readUpdate(action.Update);
  }
  if (action.ConditionCheck?.ConditionExpression === undefined) {
    throw missing("conditionCheck.conditionExpression");
  }
  return readCheck(action.ConditionCheck);
}

function missing(member: string) {
  return invalid(
    `1 validation error detected: Value null at 'transactItems.member.${member}' failed to satisfy constraint: Member must not be null`,
  );
}
