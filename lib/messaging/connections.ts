/** The connections to destinations of all kinds. Each is opened when the first message of its kind is sent. */
import {
  ADDRESS_KINDS,
  type Address,
  type AddressKind,
  destinationOf,
  parseAddress,
} from "../core/messages/address.ts";
import { dueTimeOf } from "../core/messages/deliver-at.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import type { AwsClientLike } from "./clients.ts";
import {
  Circuit,
  DestinationQueue,
  DestinationRefused,
  type Entry,
  NOT_ATTEMPTED,
  type SendEnd,
  type SendEntries,
  type SendingRules,
} from "./destination-queue.ts";
import { connectToEventBridge, EVENTBRIDGE_MAX_BYTES, eventBridgeEntry } from "./eventbridge.ts";
import { type ScheduleForm, Scheduler, type SchedulerOptions, scheduleForm } from "./scheduler.ts";
import {
  byKey,
  connectToSns,
  connectToSqs,
  type Identify,
  SNS_MAX_BYTES,
  SQS_MAX_BYTES,
  snsEntry,
  sqsEntry,
} from "./sqs-and-sns.ts";

export interface Clients {
  /**
   * An `SQSClient`, used unchanged for queues in its Region; for other Regions, clients are created with its credentials.
   * @default - one for each Region, which gives up connecting after 1 second and a request after 3 seconds
   */
  readonly sqs?: AwsClientLike | undefined;
  /** An `SNSClient`. @default - as `sqs` */
  readonly sns?: AwsClientLike | undefined;
  /** An `EventBridgeClient`. @default - as `sqs` */
  readonly eventBridge?: AwsClientLike | undefined;
  /** EventBridge Scheduler, for messages with `deliverAt`. @default - such messages aren't sent before they are due */
  readonly scheduler?: SchedulerOptions | undefined;
  /**
   * Called once for each event bus that the function may not look up (`events:DescribeEventBus`). EventBridge accepts
   * events for a bus that doesn't exist, and drops them. Errors thrown by the callback are ignored.
   * @default - `console.warn`
   */
  readonly onWarning?: ((warning: Error) => void) | undefined;
}

/** Sends a message to one destination; `end` is called once. */
type Send = (message: StoredMessage, end: (ended: SendEnd) => void) => void;

type Way = (address: string, rules: SendingRules, circuit: Circuit) => Send;

/** The ways to destinations, for messages that are due now, and for those that wait in EventBridge Scheduler. */
export type Connections = Readonly<Record<"now" | "later", Readonly<Record<AddressKind, Way>>>>;

/**
 * @param names the only allowed destinations; without them, every destination is
 * @param identify makes the ids by which FIFO destinations identify messages
 */
export function connect(
  { sqs, sns, eventBridge, scheduler: given, onWarning = (warning) => console.warn(warning) }: Clients,
  names?: ReadonlySet<string>,
  identify: Identify = byKey,
): Connections {
  function wayTo<Form>(
    kind: AddressKind,
    open: () => Promise<(address: Address) => SendEntries<Form> | Promise<SendEntries<Form>>>,
    entryOf: (message: StoredMessage) => Entry<Form>,
    maxBytes: number,
  ): Way {
    let opened: ReturnType<typeof open> | undefined;
    return function wayOf(text, rules, circuit) {
      const request: SendEntries<Form> = async (forms, signal) => {
        // An older version that checked less, or another writer, may have stored the address.
        const address = parseAddress(kind, text);
        if (address === undefined)
          throw new DestinationRefused(`the destination of a message isn't a valid ${kind}`);
        if (names?.has(address.name) === false) {
          throw new DestinationRefused("the destination of a message isn't in `destinations`");
        }
        // If a package can't be loaded, try again the next time.
        opened ??= open().catch((error) => {
          opened = undefined;
          throw error;
        });
        return (await (await opened)(address))(forms, signal);
      };
      const queue = new DestinationQueue(request, maxBytes, rules, circuit);
      return (message, end) => queue.add(entryOf(message), end);
    };
  }
  const scheduler = new Scheduler(given);
  const scheduled = (kind: AddressKind, entryOf: (message: StoredMessage) => Entry<ScheduleForm["form"]>) =>
    wayTo<ScheduleForm>(
      kind,
      async () => (address) => scheduler.to(address),
      // Each schedule is a request, and has no order.
      (message) => ({ form: scheduleForm(message, entryOf(message).form), bytes: 0, line: undefined }),
      0,
    );
  const later = {
    queue: scheduled("queue", (message) => sqsEntry(message, identify)),
    topic: scheduled("topic", (message) => snsEntry(message, identify)),
    bus: scheduled("bus", eventBridgeEntry),
  };
  const now = {
    queue: wayTo(
      "queue",
      () => connectToSqs(sqs),
      (message) => sqsEntry(message, identify),
      SQS_MAX_BYTES,
    ),
    topic: wayTo(
      "topic",
      () => connectToSns(sns),
      (message) => snsEntry(message, identify),
      SNS_MAX_BYTES,
    ),
    bus: wayTo(
      "bus",
      () => connectToEventBridge(eventBridge, onWarning),
      eventBridgeEntry,
      EVENTBRIDGE_MAX_BYTES,
    ),
  };
  return { now, later };
}

/** Destinations' circuits, by name: the state of a destination outlives an invocation. */
export type Circuits = Map<string, Circuit>;

/**
 * Sends messages in one invocation, in order within each FIFO destination and group. Destinations don't wait for each
 * other.
 */
export class Dispatch {
  readonly #connections: Connections;
  readonly #rules: SendingRules;
  readonly #circuits: Circuits;
  readonly #sends = new Map<string, Send>();

  constructor(connections: Connections, rules: SendingRules, circuits: Circuits = new Map()) {
    this.#connections = connections;
    this.#rules = rules;
    this.#circuits = circuits;
  }

  /** Never throws; `end` is called once. */
  send(message: StoredMessage, end: (ended: SendEnd) => void): void {
    try {
      this.#sendFor(message)(message, end);
    } catch (cause) {
      end({ ...NOT_ATTEMPTED, cause });
    }
  }

  #sendFor(message: StoredMessage): Send {
    // EventBridge Scheduler refuses a time in the past.
    const when = dueTimeOf(message) > this.#rules.clock.now() ? "later" : "now";
    const name = `${when} ${destinationOf(message)}`;
    const known = this.#sends.get(name);
    if (known !== undefined) return known;
    const kind = ADDRESS_KINDS.find((each) => message[each] !== undefined);
    // A later version may have stored a kind of destination that this one doesn't support.
    if (kind === undefined)
      throw new TypeError("a message has no destination that this version of the code supports");
    const circuit = this.#circuits.get(name) ?? new Circuit();
    this.#circuits.set(name, circuit);
    const send = this.#connections[when][kind](message[kind]!, this.#rules, circuit);
    this.#sends.set(name, send);
    return send;
  }
}
