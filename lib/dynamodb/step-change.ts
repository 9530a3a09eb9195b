/** The change that writes one step into the map of steps of a record. No I/O. */
import type { Update } from "@aws-sdk/client-dynamodb";
import { STEPS_VERSION } from "../contract.ts";
import { isTracked } from "../core/record.ts";
import type { StepChange } from "../core/store.ts";
import { type Attribute, listedSince, MINE, type RecordTable, type Values } from "./record-table.ts";
import { toItem } from "./values.ts";

/** The stored step is the one that was seen. A path into a missing map is an absent attribute too. */
const SAME =
  "#steps.#name.#state = :seenState AND #steps.#name.#attempt = :seenAttempt AND #steps.#name.#at = :seenAt";
const NO_STEP = "attribute_not_exists(#steps.#name)";
const NO_STEPS = "attribute_not_exists(#steps)";

/** From then on, the record is listed and doesn't expire. */
const LISTED = ", #unsettledShard = :unsettledShard, #unsettledSince = :unsettledSince REMOVE #expiresAt";

/**
 * The address of a result outlives its step, so that an erasure still finds the result of a finished record.
 * @param placed where the result is, as the record stores it
 */
export function stepChange(table: RecordTable, change: StepChange, placed: Values): Update {
  const { recordKey, token, name, step, seen, isFirst, leaseEndsAt } = change;
  const former = isFirst ? undefined : seen;
  const isStill = isFirst ? NO_STEPS : seen ? SAME : NO_STEP;
  const entry = { ...step, ...placed };
  const { resultItem } = placed;
  const listed = isTracked({ steps: { step } }) && listedSince(recordKey, leaseEndsAt);
  const set = isFirst ? "#steps = :steps, #version = :version" : "#steps.#name = :step";
  const added = resultItem ? " ADD #stepItems :stepItems" : "";
  const UpdateExpression = `SET ${set}, #leaseEndsAt = #leaseEndsAt + :tick${listed ? LISTED : ""}${added}`;
  // The fields of a step have the same names in every table.
  const fields: Readonly<Record<string, string>> = { state: "state", attempt: "attempt", at: "at", name };
  const ConditionExpression = `${MINE} AND ${isStill}`;
  return {
    TableName: table.TableName,
    Key: table.keyOf(recordKey),
    ConditionExpression,
    UpdateExpression,
    ExpressionAttributeNames: Object.fromEntries(
      Array.from(`${ConditionExpression} ${UpdateExpression}`.matchAll(/#(\w+)/g), ([alias, used = ""]) => [
        alias,
        fields[used] ?? table.names[used as Attribute],
      ]),
    ),
    // Leaves out `undefined` values.
    ExpressionAttributeValues: toItem({
      ":token": token,
      ":inProgress": "in-progress",
      ":tick": 1,
      ":version": isFirst ? STEPS_VERSION : undefined,
      ":seenState": former?.state,
      ":seenAttempt": former?.attempt,
      ":seenAt": former?.at,
      ...(listed && { ":unsettledShard": listed.unsettledShard, ":unsettledSince": leaseEndsAt }),
      ":stepItems": resultItem && new Set([resultItem]),
      ...(isFirst ? { ":steps": { [name]: entry } } : { ":step": entry }),
    }),
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  };
}
