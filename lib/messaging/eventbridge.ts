/** Messages in EventBridge's form, and the connection to it. Loads the SDK's package, which only senders need to install. */
import type { EventBridgeClient } from "@aws-sdk/client-eventbridge";
import { ENVELOPE_ATTRIBUTE } from "../contract.ts";
import type { Address } from "../core/messages/address.ts";
import { messageText } from "../core/messages/message-text.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { envelopeContent } from "../core/messages/prepare-message.ts";
import { quietly } from "../core/unawaited.ts";
import { type AwsClientLike, CLIENT_CONFIG, cannotLoad, RegionalClients } from "./clients.ts";
import { type Entry, notSent, type SendEntries, sentAs } from "./destination-queue.ts";

export interface EventForm {
  readonly EventBusName: string;
  readonly Source: string;
  readonly DetailType: string;
  readonly Detail: string;
  readonly Time?: Date;
}

/**
 * The limit for several events in a request. A larger event goes by itself, up to 1 MB: a Region with a lower limit
 * refuses only that event. https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEvents.html
 */
export const EVENTBRIDGE_MAX_BYTES = 262_144;

/** https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevents.html */
const TIME_BYTES = 14;

/** EventBridge guarantees no order, so no entry waits. */
export function eventBridgeEntry(message: StoredMessage): Entry<EventForm> {
  const { bus, source, detailType, body, committedAt } = message;
  // A received event that is sent on already has an envelope, but this event is another message.
  const detail = { ...JSON.parse(body), [ENVELOPE_ATTRIBUTE]: envelopeContent(message) };
  const form = {
    EventBusName: bus!,
    Source: source!,
    DetailType: detailType!,
    Detail: messageText(detail),
    // Without a time, EventBridge uses the request's, which differs in each try.
    ...(committedAt !== undefined && { Time: new Date(committedAt) }),
  };
  const bytes = Buffer.byteLength(form.Source + form.DetailType + form.Detail) + (form.Time ? TIME_BYTES : 0);
  return { form, bytes, line: undefined };
}

/** https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutEventsResultEntry.html */
const PASSING = ["InternalFailure", "ThrottlingException"];

/** `warn` is called for buses that the function may not look up. */
export async function connectToEventBridge(
  given: AwsClientLike | undefined,
  warn: (warning: Error) => void,
): Promise<(address: Address) => SendEntries<EventForm>> {
  const { DescribeEventBusCommand, EventBridgeClient, PutEventsCommand } = await import(
    "@aws-sdk/client-eventbridge"
  ).catch(cannotLoad("@aws-sdk/client-eventbridge"));
  const clients = new RegionalClients<EventBridgeClient>(
    given,
    (config) => new EventBridgeClient({ ...CLIENT_CONFIG, ...(config as object) }),
  );
  const buses = new KnownBuses(
    async (bus) => (await clients.at(bus)).send(new DescribeEventBusCommand({ Name: bus.text })),
    warn,
  );
  return (address) => async (forms, abortSignal) => {
    await buses.check(address);
    const client = await clients.at(address);
    const command = new PutEventsCommand({ Entries: [...forms] });
    const { Entries = [] } = await client.send(command, { abortSignal });
    // Results are in the order of the entries, which have no ids.
    return forms.map((_, index) => {
      const { EventId, ErrorCode } = Entries[index] ?? {};
      if (EventId !== undefined) return sentAs(EventId);
      return notSent(ErrorCode, ErrorCode === undefined || PASSING.includes(ErrorCode));
    });
  };
}

/** Every account has this bus in every Region, and it can't be deleted. */
const DEFAULT_BUS = "default";

/** Remembers which event buses exist. EventBridge accepts an event for a bus that doesn't, and silently drops it. */
class KnownBuses {
  readonly #describe: (bus: Address) => Promise<unknown>;
  readonly #warn: (warning: Error) => void;
  readonly #asked = new Map<string, Promise<void>>();

  /** @param describe rejects with `ResourceNotFoundException` for a bus that doesn't exist. */
  constructor(describe: (bus: Address) => Promise<unknown>, warn: (warning: Error) => void) {
    this.#describe = describe;
    this.#warn = warn;
  }

  /**
   * Resolves for a bus that exists, and for one that the function may not look up, with a warning. Looks up each bus
   * once.
   * @throws the lookup's error; the next call looks it up again.
   */
  check(bus: Address): Promise<void> {
    if (bus.text === DEFAULT_BUS) return Promise.resolve();
    const asked = this.#asked.get(bus.text) ?? this.#ask(bus);
    this.#asked.set(bus.text, asked);
    asked.catch(() => this.#asked.delete(bus.text));
    return asked;
  }

  async #ask(bus: Address): Promise<void> {
    try {
      await this.#describe(bus);
    } catch (cause) {
      if (Object(cause).name !== "AccessDeniedException") throw cause;
      const why = "can't check whether the event bus exists, so its events may be lost: grant";
      logWarning(this.#warn, new Error(`${why} events:DescribeEventBus`, { cause }));
    }
  }
}

function logWarning(warn: (warning: Error) => void, warning: Error): void {
  quietly(() => warn(warning));
}
