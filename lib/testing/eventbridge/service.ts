/** What all operations of EventBridge share: time, ids, and the buses by their names. */
import type { Clock, Random } from "../../core/clock.ts";
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
  /** What the target gets, as JSON. */
  readonly input: string;
}

export interface EventBridgeServiceOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly region: string;
  readonly accountId: string;
  readonly deliver: (delivery: EventDelivery) => void;
}

export interface AcceptedEvent {
  readonly busName: string;
  readonly event: BusEvent;
}

/** Every account has it. */
const DEFAULT_BUS = "default";

export class EventBridgeService {
  readonly options: EventBridgeServiceOptions;
  readonly buses = new Map<string, EventBus>();
  /** All that was answered with an id, in order. */
  readonly accepted: AcceptedEvent[] = [];

  constructor(options: EventBridgeServiceOptions) {
    this.options = options;
    this.buses.set(DEFAULT_BUS, new EventBus(DEFAULT_BUS, this.arnOf(`event-bus/${DEFAULT_BUS}`)));
  }

  now(): number {
    return this.options.clock.now();
  }

  newId(): string {
    return this.options.random.token();
  }

  arnOf(resource: string): string {
    return `arn:aws:events:${this.options.region}:${this.options.accountId}:${resource}`;
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
