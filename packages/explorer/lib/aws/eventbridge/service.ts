/** Shared by all EventBridge operations: the time, new ids, and the buses by name. */
import { AwsService, type AwsServiceOptions } from "../aws-service.ts";
import { EventBus, type Rule } from "./event-bus.ts";
import { EventBridgeError } from "./eventbridge-error.ts";
import type { RuleTarget } from "./operations.ts";
import type { BusEvent } from "./target-input.ts";

/** One event for one target. */
export interface EventDelivery {
  readonly bus: EventBus;
  readonly rule: Rule;
  readonly target: RuleTarget;
  readonly event: BusEvent;
  /** The target's input as JSON. */
  readonly input: string;
}

export interface EventBridgeServiceOptions extends AwsServiceOptions {
  readonly deliver: (delivery: EventDelivery) => void;
}

/** An event that got an id from its bus. */
export interface AcceptedEvent {
  readonly busName: string;
  readonly event: BusEvent;
}

/** Every account has this bus. */
const DEFAULT_BUS = "default";

export class EventBridgeService extends AwsService<EventBridgeServiceOptions> {
  readonly buses = new Map<string, EventBus>();
  /** All events that got an id, in order. */
  readonly accepted: AcceptedEvent[] = [];

  constructor(options: EventBridgeServiceOptions) {
    super(options, "events");
    this.buses.set(DEFAULT_BUS, new EventBus(DEFAULT_BUS, this.arnOf(`event-bus/${DEFAULT_BUS}`)));
  }

  busNameOf(nameOrArn = DEFAULT_BUS): string {
    return nameOrArn.slice(nameOrArn.lastIndexOf("/") + 1);
  }

  bus(nameOrArn: string | undefined): EventBus {
    const name = this.busNameOf(nameOrArn);
    const bus = this.buses.get(name);
    if (bus !== undefined) return bus;
    throw new EventBridgeError("ResourceNotFoundException", `Event bus ${name} does not exist.`);
  }
}
