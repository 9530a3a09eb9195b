/** Replaces stored messages that are in separate items. No I/O. */
import type { TransactWriteItem } from "@aws-sdk/client-dynamodb";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { messageItemKeys } from "./outbox-requests.ts";
import type { RecordTable } from "./record-table.ts";
import type { WaitingRecord } from "./waiting-record.ts";

/** The writes that replace stored messages in separate items; empty if the record itself holds them. */
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
