/**
 * A stack as the doctor reads it: resources by type, and what refers to what. It has the form of a template. What lives is
 * brought into that form, so that a check is written once.
 */
import { ENVIRONMENT } from "onceonly/kit";
import { mayBe, Sight, type Unseen } from "./sight.ts";

export interface Diagnosed<Properties> {
  readonly id: string;
  readonly properties: Properties;
}

/** What a check says of one resource. */
export interface Complaint {
  /** The id of the resource; absent where something is missing. */
  readonly id?: string;
  readonly what: string;
  /** The types of what was looked for in vain: where one of them is unseen, nothing is said. */
  readonly lacks?: readonly string[];
  /** Nothing is wrong, but the checklist recommends something else. */
  readonly isAdvice?: boolean;
}

export interface DoctorCheck {
  /** As the checklist names it. */
  readonly id: string;
  readonly remedy: string;
  /** All that it finds is advice. */
  readonly isAdvice?: boolean;
  /** In templates the rules of the synthesis find it, which know more. */
  readonly isLive?: boolean;
  find(stack: DiagnosedStack): readonly Complaint[];
}

export interface Examination {
  readonly complaints: readonly Complaint[];
  readonly unseen: readonly Unseen[];
}

export interface DiagnosedTable {
  readonly TimeToLiveSpecification?: { readonly Enabled?: boolean; readonly AttributeName?: string };
  readonly StreamSpecification?: { readonly StreamViewType?: string };
  readonly GlobalSecondaryIndexes?: readonly { readonly IndexName?: string }[];
  readonly PointInTimeRecoverySpecification?: { readonly PointInTimeRecoveryEnabled?: boolean };
  readonly DeletionProtectionEnabled?: boolean;
  readonly Replicas?: readonly Pick<
    DiagnosedTable,
    "PointInTimeRecoverySpecification" | "DeletionProtectionEnabled"
  >[];
}

export interface DiagnosedFunction {
  readonly Runtime?: string;
  readonly Timeout?: number;
  readonly ReservedConcurrentExecutions?: number;
  readonly Environment?: { readonly Variables?: Readonly<Record<string, unknown>> };
}

export interface QueueProperties {
  readonly FifoQueue?: boolean;
  readonly ContentBasedDeduplication?: boolean;
  readonly VisibilityTimeout?: number;
  readonly MessageRetentionPeriod?: number;
  readonly RedrivePolicy?: { readonly deadLetterTargetArn?: unknown; readonly maxReceiveCount?: number };
}

export interface MappingProperties {
  readonly EventSourceArn?: unknown;
  readonly FunctionName?: unknown;
  readonly Enabled?: boolean;
  readonly StartingPosition?: string;
  readonly FunctionResponseTypes?: readonly string[];
  readonly MaximumRetryAttempts?: number;
  readonly MaximumBatchingWindowInSeconds?: number;
  readonly FilterCriteria?: { readonly Filters?: readonly { readonly Pattern?: string }[] };
}

export interface RuleProperties {
  readonly State?: string;
  readonly ScheduleExpression?: string;
  readonly Targets?: unknown;
  readonly Target?: unknown;
}

export interface DiagnosedTemplate {
  readonly Resources?: Readonly<Record<string, { readonly Type: string; readonly Properties?: object }>>;
}

export const TYPES = {
  table: "AWS::DynamoDB::Table",
  queue: "AWS::SQS::Queue",
  function: "AWS::Lambda::Function",
  mapping: "AWS::Lambda::EventSourceMapping",
  permission: "AWS::Lambda::Permission",
  restApi: "AWS::ApiGateway::RestApi",
  alarm: "AWS::CloudWatch::Alarm",
  rule: "AWS::Events::Rule",
  schedule: "AWS::Scheduler::Schedule",
  policy: "AWS::IAM::Policy",
  /** Something that a stack, a resource or a person names, and that does not live. No template has this type. */
  gone: "onceonly::Gone",
} as const;

export const TABLE_TYPES = ["AWS::DynamoDB::GlobalTable", TYPES.table];

export class DiagnosedStack {
  readonly #resources: Readonly<Record<string, { readonly Type: string; readonly Properties?: object }>>;
  readonly #sight: Sight;
  readonly #given: ReadonlySet<string>;
  /** Whether it was read from AWS, and not from templates. */
  readonly isLive: boolean;

  /** @param given the ids of what the person named: such a table is one of records, such a function runs operations */
  constructor({ Resources = {} }: DiagnosedTemplate, sight?: Sight, given: Iterable<string> = []) {
    this.isLive = sight !== undefined;
    this.#resources = Resources;
    this.#sight = sight ?? new Sight();
    this.#given = new Set(given);
  }

  /** What a check says, less what it concludes from something that was not looked at. */
  examine({ find }: DoctorCheck): Examination {
    const { found, met } = this.#sight.during(() => find(this));
    const complaints = found.filter(
      ({ id, lacks }) =>
        !met.some(
          (unseen) => (unseen.id !== undefined && unseen.id === id) || (lacks && mayBe(unseen, lacks)),
        ),
    );
    return { complaints, unseen: met };
  }

  of<Properties>(...types: readonly string[]): readonly Diagnosed<Properties>[] {
    this.#sight.ask(types);
    return Object.entries(this.#resources)
      .filter(([, { Type }]) => types.includes(Type))
      .map(([id, { Properties = {} }]) => ({ id, properties: Properties as Properties }));
  }

  /** The tables of records: those that functions name as such. */
  get tables(): readonly Diagnosed<DiagnosedTable>[] {
    const named = new Set(
      this.functions.flatMap((fn) => referencesOf(variableOf(fn, ENVIRONMENT.idempotencyTable))),
    );
    return this.of<DiagnosedTable>(...TABLE_TYPES).filter(({ id }) => named.has(id) || this.#given.has(id));
  }

  get functions(): readonly Diagnosed<DiagnosedFunction>[] {
    return this.of(TYPES.function);
  }

  /** Functions that run operations. */
  get handlers(): readonly Diagnosed<DiagnosedFunction>[] {
    return this.functions.filter(
      (fn) =>
        (variableOf(fn, ENVIRONMENT.idempotencyTable) !== undefined || this.#given.has(fn.id)) &&
        !isSender(fn),
    );
  }

  /** Relays and sweepers. */
  get senders(): readonly Diagnosed<DiagnosedFunction>[] {
    return this.functions.filter(isSender);
  }

  get queues(): readonly Diagnosed<QueueProperties>[] {
    return this.of(TYPES.queue);
  }

  get mappings(): readonly Diagnosed<MappingProperties>[] {
    return this.of(TYPES.mapping);
  }

  /** Queues with the mappings by which handlers consume them. */
  get consumed() {
    return this.mappings.flatMap((mapping) => {
      const queue = this.queues.find(({ id }) =>
        referencesOf(mapping.properties.EventSourceArn).includes(id),
      );
      const fn = this.handlers.find(({ id }) => referencesOf(mapping.properties.FunctionName).includes(id));
      return queue && fn ? [{ mapping, queue, fn }] : [];
    });
  }

  /** Mappings from the stream of a table of records to a relay. Other functions may read the stream too. */
  get relayed() {
    const tables = this.tables.map(({ id }) => id);
    const others = this.functions.filter((fn) => !isSender(fn)).map(({ id }) => id);
    return this.mappings.filter(({ properties: { EventSourceArn, FunctionName } }) => {
      const isOther = referencesOf(FunctionName).some((id) => others.includes(id));
      return !isOther && referencesOf(EventSourceArn).some((id) => tables.includes(id));
    });
  }

  /** Whether a rule runs the function on a schedule. */
  isScheduled({ id }: Diagnosed<DiagnosedFunction>): boolean {
    return this.of<RuleProperties>(TYPES.rule, TYPES.schedule).some(({ properties }) =>
      referencesOf([properties.Targets, properties.Target]).includes(id),
    );
  }

  /** Whether handlers commit messages, which need a relay. */
  get hasOutbox(): boolean {
    const commits = this.handlers.some((fn) => Number(variableOf(fn, ENVIRONMENT.outbox)) > 0);
    return commits || this.senders.length > 0;
  }

  deadLettersOf({ properties }: Diagnosed<QueueProperties>): Diagnosed<QueueProperties> | undefined {
    const ids = referencesOf(properties.RedrivePolicy?.deadLetterTargetArn);
    return this.queues.find(({ id }) => ids.includes(id));
  }
}

const isSender = (fn: Diagnosed<DiagnosedFunction>) =>
  variableOf(fn, ENVIRONMENT.outboxDestinations) !== undefined;

export const variableOf = ({ properties }: Diagnosed<DiagnosedFunction>, name: string): unknown =>
  properties.Environment?.Variables?.[name];

/** The logical ids that a value names, wherever in it. */
export function referencesOf(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(referencesOf);
  return Object.entries(value).flatMap(([name, inner]) => {
    if (name === "Ref") return [`${inner}`];
    if (name === "Fn::GetAtt") return [Array.isArray(inner) ? `${inner[0]}` : `${inner}`.split(".")[0]!];
    return referencesOf(inner);
  });
}
