/** PutEvents: an answer for each entry, and a delivery for each target of a matching rule. */
import type { EventBus } from "./event-bus.ts";
import { invalid } from "./eventbridge-error.ts";
import type { EventBridgeOperations, PutEventsEntry, PutEventsResult } from "./operations.ts";
import type { EventBridgeService } from "./service.ts";
import { type BusEvent, targetInput } from "./target-input.ts";

const MAX_ENTRIES = 10;
/**
 * The limit for all entries of a request together:
 * https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-putevents.html
 */
const MAX_BYTES = 1_048_576;
const TIME_BYTES = 14;

export function putEvents(
  service: EventBridgeService,
  entries: EventBridgeOperations["PutEvents"]["input"]["Entries"] = [],
): EventBridgeOperations["PutEvents"]["output"] {
  if (entries.length === 0 || entries.length > MAX_ENTRIES) {
    throw invalid(
      `1 validation error detected: there are ${entries.length} entries, and may be 1 to ${MAX_ENTRIES}`,
    );
  }
  if (entries.reduce((sum, entry) => sum + sizeOf(entry), 0) > MAX_BYTES) {
    throw invalid("Total size of the entries in the request is over the limit.");
  }
  const Entries = entries.map((entry) => putEvent(service, entry));
  return { FailedEntryCount: Entries.filter(({ ErrorCode }) => ErrorCode !== undefined).length, Entries };
}

function putEvent(service: EventBridgeService, entry: PutEventsEntry): PutEventsResult {
  const { EventBusName, Source, DetailType, Detail, Time, Resources = [] } = entry;
  const refused = (ErrorCode: string, ErrorMessage: string) => ({ ErrorCode, ErrorMessage });
  const required = { Source, DetailType, Detail };
  for (const [name, value] of Object.entries(required)) {
    if (!value)
      return refused(
        "InvalidArgument",
        `Parameter ${name} is not valid. Reason: ${name} is a required argument.`,
      );
  }
  const detail = parsedObject(Detail ?? "");
  if (detail === undefined) return refused("MalformedDetail", "Detail is malformed.");
  if (Source?.startsWith("aws.")) {
    return refused("NotAuthorizedForSourceException", "Not authorized for the source.");
  }
  const at = Time === undefined ? service.now() : Number(Time) * (Time instanceof Date ? 1 : 1000);
  const event: BusEvent = {
    version: "0",
    id: service.newId(),
    "detail-type": DetailType ?? "",
    source: Source ?? "",
    account: service.options.accountId,
    time: new Date(at).toISOString().replace(/\.\d+Z$/, "Z"),
    region: service.options.region,
    resources: Resources,
    detail,
  };
  const busName = service.busNameOf(EventBusName);
  service.accepted.push({ busName, event });
  const bus = service.buses.get(busName);
  // An entry for a bus that does not exist succeeds too: https://github.com/aws/aws-cli/issues/9186
  if (bus !== undefined) matchRules(service, bus, event);
  return { EventId: event.id };
}

/** Delivers to all targets of all matching rules. */
export function matchRules(service: EventBridgeService, bus: EventBus, event: BusEvent): void {
  for (const rule of bus.rules.values()) {
    if (!rule.matches(event)) continue;
    for (const target of rule.targets.values()) {
      service.options.deliver({ bus, rule, target, event, input: targetInput(event, target, rule) });
    }
  }
}

function sizeOf({ Time, Source = "", DetailType = "", Detail = "", Resources = [] }: PutEventsEntry): number {
  const texts = [Source, DetailType, Detail, ...Resources];
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text), Time === undefined ? 0 : TIME_BYTES);
}

function parsedObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
