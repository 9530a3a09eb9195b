/** Sends prepared messages to whatever destinations they have, and answers for each of them. */

import { SendFailedError, type SendResult, type SentMessage } from "../core/errors.ts";
import { destinationOf } from "../core/messages/address.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { Circuit } from "./circuit.ts";
import { type Connections, DESTINATION_KINDS } from "./connections.ts";
import { type Ended, NOT_ATTEMPTED, type SendingRules } from "./destination-queue.ts";

/** The circuits of destinations, by their names: what was learnt about them outlives an invocation. */
export type Circuits = Map<string, Circuit>;

/** What is sent in one invocation: in order within each FIFO destination and group; destinations do not wait for each other. */
export class Dispatch {
  readonly #connections: Connections;
  readonly #rules: SendingRules;
  readonly #circuits: Circuits;
  readonly #ways = new Map<string, ReturnType<Connections[keyof Connections]>>();

  constructor(connections: Connections, rules: SendingRules, circuits: Circuits = new Map()) {
    this.#connections = connections;
    this.#rules = rules;
    this.#circuits = circuits;
  }

  /** Never throws: `end` is told, once. */
  send(message: StoredMessage, end: (ended: Ended) => void): void {
    try {
      this.#wayFor(message)(message, end);
    } catch (cause) {
      end({ ...NOT_ATTEMPTED, cause });
    }
  }

  #wayFor(message: StoredMessage) {
    const name = destinationOf(message);
    const known = this.#ways.get(name);
    if (known !== undefined) return known;
    const kind = DESTINATION_KINDS.find((each) => message[each] !== undefined);
    // A later version may have stored a message for a kind of destination that this one does not know.
    if (kind === undefined) throw new TypeError("a message has no destination that this version knows");
    const circuit = this.#circuits.get(name) ?? new Circuit();
    this.#circuits.set(name, circuit);
    const way = this.#connections[kind](message[kind]!, this.#rules, circuit);
    this.#ways.set(name, way);
    return way;
  }
}

export interface Sending {
  /** In the order of the messages. */
  readonly results: readonly SendResult[];
  /** What the first request that failed as a whole failed with. */
  readonly cause?: unknown;
}

/** Never rejects. */
export async function deliver(
  messages: readonly StoredMessage[],
  connections: Connections,
  rules: SendingRules,
): Promise<Sending> {
  const dispatch = new Dispatch(connections, rules);
  return sendEach(messages, (message, end) => dispatch.send(message, end));
}

/** Resolves once all have come to their end. */
export async function sendEach<Item>(
  items: readonly Item[],
  send: (item: Item, end: (ended: Ended) => void) => void,
): Promise<Sending> {
  const ends = await Promise.all(items.map((item) => new Promise<Ended>((end) => send(item, end))));
  const results = ends.map(({ result }) => result);
  const failed = ends.find((ended) => "cause" in ended);
  return failed === undefined ? { results } : { results, cause: failed.cause };
}

/** @throws SendFailedError (`SEND_FAILED`) unless every message was sent. */
export function allSent({ results, cause }: Sending): readonly SentMessage[] {
  const sent = results.filter((result) => result.sent);
  if (sent.length < results.length) throw new SendFailedError(results, cause);
  return sent;
}
