/** The ids that FIFO queues order and deduplicate by, derived from business keys. Pure. */
import { MessageIdInvalidError } from "../core/errors.ts";
import { hashTuple } from "../core/identity.ts";
import type { MessageAttributes } from "../core/messages/attributes.ts";

/** https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessage.html */
const SQS_ID = /^[!-~]{1,128}$/;

const HASHED_GROUP = "sha256:";

/** What a FIFO destination knows a message by. */
export type Identify = (message: {
  readonly group: string;
  readonly key: string;
  readonly body: string;
  readonly attributes?: MessageAttributes | undefined;
}) => string;

/**
 * The same for every send of one message, and another one for each other (group, key) and each deliberate re-send.
 * The group is part of it because queues with per-group deduplication keep groups apart, and others do not: so both
 * kinds deliver the same.
 */
export function deduplicationIdOf(group: string, key: string, attempt?: number): string {
  const suffix = attempt === undefined ? [] : [String(attempt)];
  return hashTuple("onceonly/deduplication/1", group, key, ...suffix);
}

export const byKey: Identify = ({ group, key }) => deduplicationIdOf(group, key);

/**
 * For what is stored, and so the same at each send: another body under the same key is delivered too, for its consumer to
 * refuse, and so are other attributes. By the key alone the destination would drop it without a word, and it would count as sent.
 */
export const byKeyAndBody: Identify = ({ group, key, body, attributes }) => {
  const more = attributes === undefined ? [] : [JSON.stringify(attributes)];
  return hashTuple("onceonly/deduplication/2", group, key, body, ...more);
};

/** The group itself where SQS takes it, else a hash of it. No two groups share an id. */
export function groupIdOf(group: string): string {
  if (SQS_ID.test(group) && !group.startsWith(HASHED_GROUP)) return group;
  return HASHED_GROUP + hashTuple("onceonly/group/1", group);
}

/** @throws MessageIdInvalidError (`MESSAGE_ID_INVALID`) */
export function checkAttempt(where: string, attempt: unknown): asserts attempt is number {
  if (Number.isSafeInteger(attempt) && (attempt as number) >= 1) return;
  throw new MessageIdInvalidError(
    `${where}: the attempt must be a whole number from 1, a new one for each re-send`,
  );
}
