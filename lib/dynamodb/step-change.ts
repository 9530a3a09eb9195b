/** The change that writes one step into the map of steps of a record. No I/O. */
import type { AttributeValue, Update } from "@aws-sdk/client-dynamodb";
import { isTracked } from "../core/record.ts";
import type { StepChange } from "../core/store.ts";
import { type Attribute, listedSince, MINE, type RecordTable, type Values } from "./record-table.ts";
import { toItem } from "./values.ts";

/** The step on record is the one that was seen. A path into a map that is not there has no attribute either. */
const SAME =
  "#steps.#name.#state = :seenState AND #steps.#name.#attempt = :seenAttempt AND #steps.#name.#at = :seenAt";
const NO_STEP = "attribute_not_exists(#steps.#name)";
const NO_STEPS = "attribute_not_exists(#steps)";

/** The names of fields of a step, which are the same in every table. */
const FIELDS = { state: "state", attempt: "attempt", at: "at" } as const;

/** @param placed where the result is, as the record has it */
export function stepChange(table: RecordTable, change: StepChange, placed: Values): Update {
  const { recordKey, token, name, step, seen, isFirst, leaseEndsAt } = change;
  const isStill = isFirst ? NO_STEPS : seen ? SAME : NO_STEP;
  const entry: AttributeValue = { M: toItem({ ...step, ...placed }) };
  const isListed = isTracked({ steps: { step } });
  const listed = isListed ? listedSince(recordKey, leaseEndsAt) : {};
  const sets = [
    isFirst ? "#steps = :steps" : "#steps.#name = :step",
    "#leaseEndsAt = #leaseEndsAt + :tick",
    ...Object.keys(listed).map((attribute) => `#${attribute} = :${attribute}`),
  ];
  const UpdateExpression = `SET ${sets.join(", ")}${isListed ? " REMOVE #expiresAt" : ""}`;
  const ConditionExpression = `${MINE} AND ${isStill}`;
  return {
    TableName: table.TableName,
    Key: table.keyOf(recordKey),
    ConditionExpression,
    UpdateExpression,
    ExpressionAttributeNames: Object.fromEntries(
      Array.from(`${ConditionExpression} ${UpdateExpression}`.matchAll(/#(\w+)/g), ([alias, used = ""]) => [
        alias,
        used === "name" ? name : (FIELDS[used as keyof typeof FIELDS] ?? table.names[used as Attribute]),
      ]),
    ),
    ExpressionAttributeValues: {
      ...toItem({
        ":token": token,
        ":inProgress": "in-progress",
        ":tick": 1,
        ...(!isFirst &&
          seen && { ":seenState": seen.state, ":seenAttempt": seen.attempt, ":seenAt": seen.at }),
        ...Object.fromEntries(Object.entries(listed).map(([attribute, value]) => [`:${attribute}`, value])),
      }),
      ...(isFirst ? { ":steps": { M: { [name]: entry } } } : { ":step": entry }),
    },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  };
}
