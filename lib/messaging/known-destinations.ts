/**
 * Where relay and sweeper send: they have rights that those who write records have not, so that a record is no reason to
 * send something anywhere. Pure.
 */

import { MAX_OPERATION_LENGTH, recordKeyPrefix } from "../core/identity.ts";
import { type Address, destinationOf, parseAddress } from "../core/messages/address.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { type Check, text } from "../core/option-checks.ts";

/** URLs of queues, ARNs of topics, names or ARNs of event buses. */
export type KnownDestinations = readonly (string | undefined)[];

/** A list for all operations, or one for each operation that may send. */
type GivenDestinations = KnownDestinations | Readonly<Record<string, KnownDestinations>>;

const [, isOperation] = text(MAX_OPERATION_LENGTH);

export const DESTINATIONS_CHECK: Check = [
  "must be a list of queues (URLs), topics (ARNs) and event buses (names or ARNs), one at least, or an object with such a list for each operation that may send",
  (value) => isList(value) || isListPerOperation(value),
];

function isList(value: unknown): value is KnownDestinations {
  return Array.isArray(value) && value.length > 0 && value.every((each) => nameOf(each) !== undefined);
}

function isListPerOperation(value: unknown): boolean {
  if (Object.prototype.toString.call(value) !== "[object Object]") return false;
  const lists = Object.entries(value as object);
  return lists.length > 0 && lists.every(([operation, list]) => isOperation(operation) && isList(list));
}

/** Whether something may be sent there. Without `destinations` it may, wherever IAM allows it. */
export function isKnown(address: Address, destinations: KnownDestinations | undefined): boolean {
  return destinations === undefined || destinations.some((each) => nameOf(each) === address.name);
}

/** Whether the operation of a record may have this message sent. */
export type Fence = (recordKey: string, message: StoredMessage) => boolean;

/**
 * What is the same for all operations, or what tells them apart: by the key of the record, since who may write the records
 * of one operation cannot write one that begins as those of another.
 */
export function readDestinations(given: GivenDestinations | undefined): {
  readonly destinations?: KnownDestinations;
  readonly fence?: Fence;
} {
  if (given === undefined) return {};
  return isList(given) ? { destinations: given } : { fence: fenceOf(given) };
}

function fenceOf(destinations: Readonly<Record<string, KnownDestinations>>): Fence {
  const known = new Map(
    Object.entries(destinations).map(([operation, list]) => [
      recordKeyPrefix(operation),
      new Set(list.map(nameOf)),
    ]),
  );
  return (recordKey, message) => {
    const names = known.get(recordKey.slice(0, recordKey.indexOf("#") + 1));
    return names?.has(destinationOf(Object(message))) ?? false;
  };
}

function nameOf(value: unknown): string | undefined {
  return (parseAddress("queue", value) ?? parseAddress("topic", value) ?? parseAddress("bus", value))?.name;
}
