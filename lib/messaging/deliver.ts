/** Sends messages for producers, and returns a result for each. */
import { SendFailedError } from "../core/errors.ts";
import type { StoredMessage } from "../core/messages/outgoing-message.ts";
import type { SendResult, SentMessage } from "../core/messages/send-result.ts";
import { type Connections, Dispatch } from "./connections.ts";
import type { SendEnd, SendingRules } from "./destination-queue.ts";

interface Sending {
  /** In the order of the messages. */
  readonly results: readonly SendResult[];
  /** The error of the first request that failed as a whole. */
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

/** Resolves once all have ended. */
export async function sendEach<Item>(
  items: readonly Item[],
  send: (item: Item, end: (ended: SendEnd) => void) => void,
): Promise<Sending> {
  const ends = await Promise.all(items.map((item) => new Promise<SendEnd>((end) => send(item, end))));
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
