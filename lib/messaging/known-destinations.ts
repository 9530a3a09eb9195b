/**
 * Reads the option `destinations`: where relay and sweeper may send. They have rights that writers of records have not, so
 * that a record alone is no reason to send. Pure.
 */

import { MAX_OPERATION_LENGTH, recordKeyPrefix } from "../core/identity.ts";
import { destinationOf, parseAddress } from "../core/messages/address.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { type Check, text } from "../core/option-checks.ts";

/** URLs of queues, ARNs of topics, names or ARNs of event buses. */
type KnownDestinations = readonly (string | undefined)[];

/** A list for all operations, or one for each operation that may send. */
type GivenDestinations = KnownDestinations | Readonly<Record<string, KnownDestinations>> | "any";

const [, isOperation] = text(MAX_OPERATION_LENGTH);

export const DESTINATIONS_CHECK: Check = [
  'must be a list of at least one queue URL, topic ARN, or event bus name or ARN, an object with such a list for each operation that may send, or "any" to send wherever a record says',
  (value) => value === "any" || isList(value) || isListPerOperation(value),
];

function isList(value: unknown): value is KnownDestinations {
  return Array.isArray(value) && value.length > 0 && value.every((each) => nameOf(each) !== undefined);
}

function isListPerOperation(value: unknown): boolean {
  if (Object.prototype.toString.call(value) !== "[object Object]") return false;
  const lists = Object.entries(value as object);
  return lists.length > 0 && lists.every(([operation, list]) => isOperation(operation) && isList(list));
}

/** Whether the operation of a record may have this message sent. */
export type Fence = (recordKey: string, message: StoredMessage) => boolean;

/**
 * Answers with the names of the destinations of all operations, or with a fence that tells operations apart by the key of
 * the record. Who may write the records of one operation cannot write a key that begins as those of another.
 */
export function readDestinations(given: GivenDestinations): {
  readonly names?: ReadonlySet<string>;
  readonly fence?: Fence;
} {
  if (given === "any") return {};
  return isList(given) ? { names: namesOf(given) } : { fence: fenceOf(given) };
}

function fenceOf(destinations: Readonly<Record<string, KnownDestinations>>): Fence {
  const known = new Map(
    Object.entries(destinations).map(([operation, list]) => [recordKeyPrefix(operation), namesOf(list)]),
  );
  return (recordKey, message) => {
    const names = known.get(recordKey.slice(0, recordKey.indexOf("#") + 1));
    return names?.has(destinationOf(Object(message))) ?? false;
  };
}

function namesOf(list: KnownDestinations): ReadonlySet<string> {
  return new Set(list.map((each) => nameOf(each)!));
}

function nameOf(value: unknown): string | undefined {
  return (parseAddress("queue", value) ?? parseAddress("topic", value) ?? parseAddress("bus", value))?.name;
}
