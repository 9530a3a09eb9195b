/** Whether what a database holds as a message can be sent as it is. Pure. */
import { isMessageField, prepareMessage, type StoredMessage } from "../core/messages/outgoing-message.ts";
import { type Ended, INVALID, UNKNOWN } from "./destination-queue.ts";

/** `undefined` for one that can be sent. */
export function faultOf(stored: unknown): Ended | undefined {
  // A store in memory keeps what is `undefined`, which JSON leaves out.
  const given = Object.entries(Object(stored)).filter(([, value]) => value !== undefined);
  const known = Object.fromEntries(given.filter(([name]) => isMessageField(name)));
  try {
    const { bus, body } = known as Partial<StoredMessage>;
    if (typeof body !== "string") return INVALID;
    prepareMessage("a stored message", {
      ...known,
      body: bus === undefined ? body : JSON.parse(body),
    } as never);
  } catch {
    return INVALID;
  }
  // A later version wrote it, and sends it.
  return Object.keys(known).length < given.length ? UNKNOWN : undefined;
}
