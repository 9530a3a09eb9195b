/**
 * Reads the option `destinations`: where relay and sweeper may send. They have permissions that writers of records don't
 * have, so a record by itself isn't enough to send. Pure.
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
  'must be an array of at least one queue URL, topic ARN, or event bus name or ARN, an object with such an array for each operation that may send, or "any" to send wherever a record says',
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

/** Whether a record's operation may send this message. */
export type Fence = (recordKey: string, message: StoredMessage) => boolean;

/**
 * Returns the destinations of all operations, or a fence that reads the operation from the record's key. A writer
 * restricted to one operation's records can't write a key that starts like another operation's.
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
