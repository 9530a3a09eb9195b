/** One event bus with its rules. */
import type { EventFilter } from "../event-sources/event-filter.ts";
import type { RuleTarget } from "./operations.ts";
import type { RuleIdentity } from "./target-input.ts";

export interface Rule extends RuleIdentity {
  readonly matches: EventFilter;
  readonly targets: Map<string, RuleTarget>;
}

export class EventBus {
  readonly name: string;
  readonly arn: string;
  readonly rules = new Map<string, Rule>();

  constructor(name: string, arn: string) {
    this.name = name;
    this.arn = arn;
  }
}
