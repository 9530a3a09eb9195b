/** Reads the steps of a record. No I/O. */
import type { AttributeValue } from "@aws-sdk/client-dynamodb";
import type { StoredResult, StoredStep, StoredSteps } from "../core/record.ts";
import { fromItem, type Item, readText } from "./values.ts";

/** @param own returns a result's address if it belongs to this record. @param refuse throws: such a record is unreadable. */
export function readSteps(
  { M: steps }: AttributeValue,
  own: (address: string) => string,
  refuse: () => never,
): StoredSteps {
  const read = ({ M }: AttributeValue): StoredStep => {
    const { result: _, resultItem, resultBytes, ...mark } = fromItem(M ?? refuse());
    const { state, attempt, at } = mark;
    const isKnown = /^(begun|done|undone)$/.test(`${state}`);
    if (!isKnown || typeof attempt !== "number" || typeof at !== "number") return refuse();
    const found = resultOf(M as Item, own, refuse);
    return { ...(mark as unknown as StoredStep), ...(found && { result: found }) };
  };
  return Object.fromEntries(Object.entries(steps ?? refuse()).map(([name, step]) => [name, read(step)]));
}

function resultOf(
  { result, resultItem, resultBytes }: Item,
  own: (address: string) => string,
  refuse: () => never,
): StoredResult | undefined {
  if (result) return { in: "record", text: readText(result) };
  if (resultItem) return { in: "item", address: own(resultItem.S ?? refuse()) };
  return resultBytes && { in: "nowhere", bytes: Number(resultBytes.N ?? refuse()) };
}
