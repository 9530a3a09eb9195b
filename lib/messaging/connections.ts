/** The ways to all kinds of destinations; each is opened when the first message for its kind is to be sent. */
import { ADDRESS_KINDS, type Address, type AddressKind, parseAddress } from "../core/messages/address.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import type { Circuit } from "./circuit.ts";
import type { AwsClientLike } from "./clients.ts";
import { DestinationQueue, type Ended, type SendingRules } from "./destination-queue.ts";
import { DestinationRefused, type Entry, type Request } from "./entry.ts";
import { connectToEventBridge, EVENTBRIDGE_MAX_BYTES, eventBridgeEntry } from "./eventbridge.ts";
import { isKnown, type KnownDestinations } from "./known-destinations.ts";
import { byKey, type Identify } from "./message-ids.ts";
import { connectToSns, SNS_MAX_BYTES, snsEntry } from "./sns.ts";
import { connectToSqs, SQS_MAX_BYTES, sqsEntry } from "./sqs.ts";

export const DESTINATION_KINDS = ADDRESS_KINDS;
export type DestinationKind = AddressKind;

export interface Clients {
  /**
   * An `SQSClient`, used as it is for the queues of its Region; those of other Regions get one with its credentials.
   * @default - one for each Region, which gives up connecting after 1 second and a request after 3 seconds
   */
  readonly sqs?: AwsClientLike | undefined;
  /** An `SNSClient`. @default - as `sqs` */
  readonly sns?: AwsClientLike | undefined;
  /** An `EventBridgeClient`. @default - as `sqs` */
  readonly eventBridge?: AwsClientLike | undefined;
  /**
   * Told, once for each event bus, that it may not be asked about (`events:DescribeEventBus`): EventBridge takes events
   * for a bus that is not there, and drops them. What it throws is ignored.
   * @default - `console.warn`
   */
  readonly onWarning?: ((warning: Error) => void) | undefined;
}

/** The way to one destination: sends what it is given, in order, and tells what became of it. */
export type Way = (
  address: string,
  rules: SendingRules,
  circuit?: Circuit,
) => (message: StoredMessage, end: (ended: Ended) => void) => void;

export type Connections = Readonly<Record<DestinationKind, Way>>;

/** `identify` is what FIFO destinations know messages by; to other than the `destinations`, if given, nothing is sent. */
export function connect(
  {
    sqs,
    sns,
    eventBridge,
    onWarning,
    destinations,
  }: Clients & { readonly destinations?: KnownDestinations | undefined },
  identify: Identify = byKey,
): Connections {
  const warn = onWarning ?? ((warning) => console.warn(warning));
  const toKnown =
    <Form>(open: () => Promise<(address: Address) => Request<Form>>) =>
    async () => {
      const requestTo = await open();
      return (address: Address): Request<Form> => {
        if (isKnown(address, destinations)) return requestTo(address);
        throw new DestinationRefused("a message is for a destination that is not named in `destinations`");
      };
    };
  return {
    queue: wayTo(
      "queue",
      toKnown(() => connectToSqs(sqs)),
      (message) => sqsEntry(message, identify),
      SQS_MAX_BYTES,
    ),
    topic: wayTo(
      "topic",
      toKnown(() => connectToSns(sns)),
      (message) => snsEntry(message, identify),
      SNS_MAX_BYTES,
    ),
    bus: wayTo(
      "bus",
      toKnown(() => connectToEventBridge(eventBridge, warn)),
      eventBridgeEntry,
      EVENTBRIDGE_MAX_BYTES,
    ),
  };
}

function wayTo<Form>(
  kind: AddressKind,
  open: () => Promise<(address: Address) => Request<Form>>,
  entryOf: (message: StoredMessage) => Entry<Form>,
  maxBytes: number,
): Way {
  let opened: ReturnType<typeof open> | undefined;
  return function wayOf(text, rules, circuit) {
    const request: Request<Form> = async (forms, signal) => {
      // What is stored may be of a version that checked less, or of somebody else.
      const address = parseAddress(kind, text);
      if (address === undefined) throw new DestinationRefused(`a message is for what is no ${kind}`);
      opened ??= open();
      return (await opened)(address)(forms, signal);
    };
    const queue = new DestinationQueue(request, maxBytes, rules, circuit);
    return (message, end) => queue.add(entryOf(message), end);
  };
}
