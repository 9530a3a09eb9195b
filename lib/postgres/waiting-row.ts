/** Reads the commits with messages to send from their rows. */
import { RecordCorruptError } from "../core/errors.ts";
import { MESSAGE_STATES, type MessageProgress, type Unsent } from "../core/messages/outbox.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import { isKnownVersion } from "../core/record.ts";
import type { JsonRecord } from "./answers.ts";

/** A commit, including fields that senders don't see. */
export interface WaitingRow extends Unsent {
  readonly progressText?: string;
  readonly sendingUntil?: number;
  readonly sender?: string;
}

/** @throws RecordCorruptError (`RECORD_CORRUPT`) */
export function waitingRowOf(stored: JsonRecord): WaitingRow {
  const { version, messages: messagesText, progress: progressText, ...others } = stored;
  const { recordKey, token, committedAt, shard, dueAt } = others;
  const isRead = [recordKey, token].every((each) => typeof each === "string");
  if (!isKnownVersion(version as number) || !isRead || ![committedAt, shard, dueAt].every(Number.isFinite)) {
    throw new RecordCorruptError("a record with messages to send has a different version, or lacks a column");
  }
  const messages = listIn<StoredMessage>("messages", messagesText);
  if (progressText === undefined) return { ...others, messages } as unknown as WaitingRow;
  const progress = listIn<MessageProgress>("progress", progressText);
  const isKnown = ({ state }: MessageProgress) => MESSAGE_STATES.includes(state);
  if (progress.length !== messages.length || !progress.every(isKnown)) throw unreadable("progress");
  return { ...others, messages, progress, progressText } as unknown as WaitingRow;
}

function listIn<Each extends object>(column: string, text: unknown): readonly Each[] {
  let list: unknown;
  try {
    list = JSON.parse(`${text}`);
  } catch {
    // Without the parser's error as its cause, which repeats part of the text.
    throw unreadable(column);
  }
  if (Array.isArray(list) && list.length > 0 && list.every((each) => Object(each) === each)) return list;
  throw unreadable(column);
}

const unreadable = (column: string) =>
  new RecordCorruptError(`the column \`${column}\` of a record can't be read`);
