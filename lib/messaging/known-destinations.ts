/**
 * Where relay and sweeper send: they have rights that those who write records have not, so that a record is no reason to
 * send something anywhere. Pure.
 */
import { type Address, parseAddress } from "../core/address.ts";
import type { Check } from "../core/option-checks.ts";

/** URLs of queues, ARNs of topics, names or ARNs of event buses. */
export type KnownDestinations = readonly (string | undefined)[];

export const DESTINATIONS_CHECK: Check = [
  "must be a list of queues (URLs), topics (ARNs) and event buses (names or ARNs), one at least",
  (value) => Array.isArray(value) && value.length > 0 && value.every((each) => nameOf(each) !== undefined),
];

/** Whether something may be sent there. Without `destinations` it may, wherever IAM allows it. */
export function isKnown(address: Address, destinations: KnownDestinations | undefined): boolean {
  return destinations === undefined || destinations.some((each) => nameOf(each) === address.name);
}

function nameOf(value: unknown): string | undefined {
  return (parseAddress("queue", value) ?? parseAddress("topic", value) ?? parseAddress("bus", value))?.name;
}
