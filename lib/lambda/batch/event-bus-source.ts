/**
 * Events from a subscriber of an EventBridge custom event bus (AWS::EventsV2): a lane for each event, or for each event group
 * if the events come with their metadata.
 */
import type { BusEvent } from "./bus-event.ts";
import { contentOf } from "./forwarded.ts";
import { type Forwarders, messageOf } from "./forwarders.ts";
import type { BatchItem, Lane } from "./item.ts";

export function eventBusLanes(events: readonly BusEvent[], trustedForwarders?: Forwarders): Lane[] {
  const lanes = new Map<unknown, BatchItem[]>();
  for (const event of events) {
    const { id, group, published } = partsOf(event);
    const text = JSON.stringify(published) ?? "";
    const item: BatchItem = {
      record: event,
      identifier: id,
      ...messageOf(NO_ATTRIBUTES, contentOf(published), text, trustedForwarders),
      ownKey: id,
      isOwnKeyFallback: true,
    };
    const lane = group ?? event;
    lanes.set(lane, [...(lanes.get(lane) ?? []), item]);
  }
  return [...lanes.values()];
}

/** An event carries its envelope in its detail, as any publisher could. */
const NO_ATTRIBUTES = { found: false, reason: "absent" } as const;

function partsOf(event: BusEvent) {
  const { id = "", Data = null, SystemMetadata } = event;
  if (!SystemMetadata) return { id, group: undefined, published: event };
  const { "aws:EventId": assigned, EventGroupId: group } = SystemMetadata;
  return { id: assigned, group, published: Data };
}
