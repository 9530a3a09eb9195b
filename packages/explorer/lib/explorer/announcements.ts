/** The messages published to topics and event buses, with or without subscribers. */
import { ENVELOPE_ATTRIBUTE } from "onceonly/kit";
import type { Simulator } from "../simulator/simulator.ts";
import { attributeTexts, keyIn } from "./arrivals.ts";
import type { Effect } from "./effect.ts";
import { type Plain, plainOf, plainText } from "./plain-value.ts";

interface Announcement {
  readonly effect: Effect;
  /** The consumers' identity of a message. */
  readonly identity: string | undefined;
}

/** All messages so far, in order. Messages that consumers treat as the same count once. */
export function announcements({ sns, eventBridge }: Pick<Simulator, "sns" | "eventBridge">): Effect[] {
  const seen = new Set<string>();
  return [...published(sns), ...accepted(eventBridge)].flatMap(({ effect, identity }) => {
    const name = identity && JSON.stringify([effect.place, identity]);
    if (name !== undefined && seen.has(name)) return [];
    if (name !== undefined) seen.add(name);
    return [effect];
  });
}

function published(sns: Simulator["sns"]): Announcement[] {
  return sns.published.map(({ topicArn, Message, MessageAttributes = {}, MessageGroupId = null }) => ({
    identity: keyIn(MessageAttributes[ENVELOPE_ATTRIBUTE]?.StringValue),
    effect: {
      kind: "message",
      place: topicArn.slice(topicArn.lastIndexOf(":") + 1),
      content: {
        body: plainText(Message),
        group: MessageGroupId,
        attributes: attributeTexts(MessageAttributes),
      },
    },
  }));
}

function accepted(eventBridge: Simulator["eventBridge"]): Announcement[] {
  return eventBridge.accepted.map(({ busName, event }) => {
    const { source, "detail-type": detailType, detail } = event;
    const envelope: unknown = Object(detail)[ENVELOPE_ATTRIBUTE];
    return {
      identity: envelope === undefined ? undefined : keyIn(JSON.stringify(envelope)),
      effect: {
        kind: "message",
        place: busName,
        content: { source, detailType, detail: plainOf(detail) as Plain },
      },
    };
  });
}
