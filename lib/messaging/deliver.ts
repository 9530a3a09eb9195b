/** Sends prepared messages to whatever destinations they have, and answers for each of them. */
import { destinationOf } from "../core/address.ts";
import type { SendResult } from "../core/errors.ts";
import type { StoredMessage } from "../core/outgoing-message.ts";
import { type Connections, DESTINATION_KINDS, type DestinationKind } from "./connections.ts";
import { NOT_ATTEMPTED, type Sending, type SendingRules } from "./send-in-order.ts";

interface Destination {
  readonly kind: DestinationKind | undefined;
  readonly address: string;
  readonly positions: number[];
}

/**
 * In order within each FIFO destination and group, also when sending fails; destinations do not wait for each other.
 * Never rejects: `results` has what became of each message, `cause` what the first destination failed with as a whole.
 */
export async function deliver(
  messages: readonly StoredMessage[],
  connections: Connections,
  rules: SendingRules,
): Promise<Sending> {
  const results: SendResult[] = [];
  const sendings = await Promise.all(
    destinationsOf(messages).map(async (destination) => {
      const sending = await sendTo(destination, messages, connections, rules);
      for (const [index, position] of destination.positions.entries()) {
        results[position] = sending.results[index]!;
      }
      return sending;
    }),
  );
  const failed = sendings.find((sending) => "cause" in sending);
  return failed === undefined ? { results } : { results, cause: failed.cause };
}

async function sendTo(
  { kind, address, positions }: Destination,
  messages: readonly StoredMessage[],
  connections: Connections,
  rules: SendingRules,
): Promise<Sending> {
  try {
    // A later version may have stored a message for a kind of destination that this one does not know.
    if (kind === undefined) throw new TypeError("a message has no destination that this version knows");
    return await connections[kind](
      address,
      positions.map((position) => messages[position]!),
      rules,
    );
  } catch (cause) {
    return { results: positions.map(() => NOT_ATTEMPTED), cause };
  }
}

function destinationsOf(messages: readonly StoredMessage[]): Destination[] {
  const destinations = new Map<string, Destination>();
  for (const [position, message] of messages.entries()) {
    const kind = DESTINATION_KINDS.find((name) => message[name] !== undefined);
    const address = kind ? message[kind]! : "";
    const name = destinationOf(message);
    const destination = destinations.get(name);
    if (destination === undefined) destinations.set(name, { kind, address, positions: [position] });
    else destination.positions.push(position);
  }
  return [...destinations.values()];
}
