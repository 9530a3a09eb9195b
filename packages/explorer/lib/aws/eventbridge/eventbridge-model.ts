/** EventBridge in the memory of one process, on the caller's clock: buses, rules and their targets. */
import { type EventFilter, patternFilter } from "../event-sources/event-filter.ts";
import { BUS_RULES } from "../event-sources/pattern-rules.ts";
import { EventBus } from "./event-bus.ts";
import { EventBridgeError, invalid } from "./eventbridge-error.ts";
import type { EventBridgeOperationName, EventBridgeOperations, RuleTarget } from "./operations.ts";
import { matchRules, putEvents } from "./put-events.ts";
import { type AcceptedEvent, EventBridgeService, type EventBridgeServiceOptions } from "./service.ts";
import { type BusEvent, checkPath } from "./target-input.ts";

export interface EventBridgeModelOptions
  extends Pick<EventBridgeServiceOptions, "clock" | "random" | "deliver"> {
  /** @default "us-east-1" */
  readonly region?: string | undefined;
  /** @default "000000000000" */
  readonly accountId?: string | undefined;
}

type Handlers = {
  readonly [Name in EventBridgeOperationName]: (
    service: EventBridgeService,
    input: EventBridgeOperations[Name]["input"],
  ) => EventBridgeOperations[Name]["output"];
};

const BUS_NAME = /^[/.\-_A-Za-z0-9]{1,256}$/;

const HANDLERS: Handlers = {
  CreateEventBus(service, { Name }) {
    if (!BUS_NAME.test(Name) || Name.includes("/"))
      throw invalid("a bus name consists of letters, digits, ., - and _");
    if (service.buses.has(Name)) {
      throw new EventBridgeError("ResourceAlreadyExistsException", `Event bus ${Name} already exists.`);
    }
    const bus = new EventBus(Name, service.arnOf(`event-bus/${Name}`));
    service.buses.set(Name, bus);
    return { EventBusArn: bus.arn };
  },
  DeleteEventBus(service, { Name }) {
    service.buses.delete(service.busNameOf(Name));
    return {};
  },
  DescribeEventBus(service, { Name }) {
    const { name, arn } = service.bus(Name);
    return { Name: name, Arn: arn };
  },
  PutEvents: (service, { Entries }) => putEvents(service, Entries),
  PutRule(service, { Name, EventBusName, EventPattern }) {
    const bus = service.bus(EventBusName);
    const arn = service.arnOf(`rule/${bus.name}/${Name}`);
    const matches = busFilter(EventPattern);
    bus.rules.set(Name, { name: Name, arn, matches, targets: bus.rules.get(Name)?.targets ?? new Map() });
    return { RuleArn: arn };
  },
  PutTargets(service, { Rule, EventBusName, Targets }) {
    const rule = service.bus(EventBusName).rules.get(Rule);
    if (rule === undefined) {
      throw new EventBridgeError("ResourceNotFoundException", `Rule ${Rule} does not exist.`);
    }
    for (const target of Targets) {
      checkTarget(target);
      rule.targets.set(target.Id, target);
    }
    return { FailedEntryCount: 0, FailedEntries: [] };
  },
};

function busFilter(pattern: string): EventFilter {
  try {
    return patternFilter(pattern, BUS_RULES);
  } catch (error) {
    throw invalid(`Event pattern is not valid. Reason: ${(error as Error).message}`);
  }
}

function checkTarget({ Id, Arn, InputPath, InputTransformer, SqsParameters }: RuleTarget): void {
  for (const path of [InputPath ?? "$", ...Object.values(InputTransformer?.InputPathsMap ?? {})])
    checkPath(path);
  if (!Arn.endsWith(".fifo") || SqsParameters?.MessageGroupId) return;
  throw invalid(`Parameter(s) SqsParameters must be specified for target: ${Id}.`);
}

/** Each call is one step. Each event goes to `deliver` once for each target of a matching rule. */
export class EventBridgeModel {
  readonly #service: EventBridgeService;

  constructor({ region = "us-east-1", accountId = "000000000000", ...options }: EventBridgeModelOptions) {
    this.#service = new EventBridgeService({ ...options, region, accountId });
  }

  /** All events that got an id, including those for buses that do not exist. */
  get accepted(): readonly AcceptedEvent[] {
    return this.#service.accepted;
  }

  /**
   * Runs an operation by the name of its SDK command, with the command's input and output.
   * @throws EventBridgeError with the name of AWS's error
   */
  async call<Name extends EventBridgeOperationName>(
    name: Name,
    input: EventBridgeOperations[Name]["input"],
  ): Promise<EventBridgeOperations[Name]["output"]> {
    if (!Object.hasOwn(HANDLERS, name)) {
      throw new EventBridgeError(
        "UnknownOperationException",
        `the model doesn't support the operation ${name}`,
      );
    }
    return HANDLERS[name](this.#service, input);
  }

  /** Accepts an event from another bus, unchanged. */
  forward(busArn: string, event: BusEvent): void {
    matchRules(this.#service, this.#service.bus(busArn), event);
  }
}
