/** What somebody decides about messages that wait or are parked. No I/O. */
import type { TransactWriteItem } from "@aws-sdk/client-dynamodb";
import { InvalidOptionError } from "../core/errors.ts";
import { ADDRESS_KINDS } from "../core/messages/address.ts";
import { type MessageProgress, UNTRIED, type Unsent } from "../core/messages/outbox.ts";
import type { OutgoingMessage, StoredMessage } from "../core/messages/outgoing-message.ts";
import { prepareMessage } from "../core/messages/prepare-message.ts";
import { messageItemKeys } from "./outbox-requests.ts";
import type { RecordTable } from "./record-table.ts";
import type { WaitingRecord } from "./waiting-record.ts";

/** Another destination, of the same kind or of another one; `source` and `detailType` for a bus. */
export interface OutboxDestinationChange {
  readonly queue?: string;
  readonly topic?: string;
  readonly bus?: string;
  readonly source?: string;
  readonly detailType?: string;
  /** For a FIFO destination, where the message has none. */
  readonly group?: string;
}

const isOpen = ({ state }: MessageProgress) => state === "waiting" || state === "parked";

/**
 * The progress of all messages, with the change of some: those at `places`, from 0, or all that are neither sent nor
 * dropped.
 * @throws InvalidOptionError (`INVALID_OPTION`) for places of others
 */
export function progressWith(
  { messages, progress = messages.map(() => UNTRIED) }: Unsent,
  places: readonly number[] | undefined,
  change: (former: MessageProgress) => MessageProgress,
): readonly MessageProgress[] {
  if (places !== undefined) {
    const isMeant = (place: number) => progress[place] !== undefined && isOpen(progress[place]);
    if (places.length === 0 || !places.every(isMeant)) {
      throw new InvalidOptionError("messages", "must be places of messages that wait or are parked, from 0");
    }
  }
  return progress.map((each, place) => ((places?.includes(place) ?? isOpen(each)) ? change(each) : each));
}

/** As if nobody had tried it; that it has a time all the same says that somebody asked for it. */
export const sentAgain = ({ at = 0 }: MessageProgress): MessageProgress => ({
  state: "waiting",
  tries: 0,
  at,
});

export const dropped = (former: MessageProgress): MessageProgress => ({ ...former, state: "dropped" });

/**
 * The commit's messages, of which some go elsewhere, checked as `commit` checks them.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`), MessageIdInvalidError (`MESSAGE_ID_INVALID`)
 */
export function redirected(
  messages: readonly StoredMessage[],
  places: readonly number[],
  to: OutboxDestinationChange,
): readonly StoredMessage[] {
  return messages.map((message, place) => {
    if (!places.includes(place)) return message;
    const given: Record<string, unknown> = { ...message };
    for (const name of [...ADDRESS_KINDS, "source", "detailType"]) delete given[name];
    if (to.bus !== undefined) {
      for (const name of ["group", "attributes", "delaySeconds"]) delete given[name];
      given.body = detailOf(message.body);
    }
    return prepareMessage(`messages[${place}]`, { ...given, ...to } as OutgoingMessage);
  });
}

/** What is no JSON is told as what it is: no event. */
function detailOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** The writes that replace stored messages in items of their own; none where the record holds them. */
export function messageItemWrites(
  table: RecordTable,
  { recordKey, token, messageItems, messages: former = [], counts = [] }: WaitingRecord,
  messages: readonly StoredMessage[],
): TransactWriteItem[] {
  let begin = 0;
  return messageItemKeys(recordKey, token, messageItems).flatMap((partitionKey, index) => {
    const [first, end] = [begin, begin + counts[index]!];
    begin = end;
    const own = messages.slice(first, end);
    if (own.every((message, place) => message === former[first + place])) return [];
    const Item = table.itemOf({ partitionKey, messages: JSON.stringify(own) });
    return [{ Put: { TableName: table.TableName, Item } }];
  });
}
