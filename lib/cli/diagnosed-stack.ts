/** A synthesized template as the doctor reads it: resources by type, and what refers to what. */

export interface Diagnosed<Properties> {
  readonly id: string;
  readonly properties: Properties;
}

/** What a check says of one resource. */
export interface Complaint {
  /** The logical id of the resource; absent where something is missing. */
  readonly id?: string;
  readonly what: string;
}

export interface DoctorCheck {
  /** As the checklist names it. */
  readonly id: string;
  readonly remedy: string;
  find(stack: DiagnosedStack): readonly Complaint[];
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

interface DiagnosedTemplate {
  readonly Resources?: Readonly<Record<string, { readonly Type: string; readonly Properties?: object }>>;
}

export class DiagnosedStack {
  readonly #resources: Readonly<Record<string, { readonly Type: string; readonly Properties?: object }>>;

  constructor({ Resources = {} }: DiagnosedTemplate) {
    this.#resources = Resources;
  }

  of<Properties>(...types: readonly string[]): readonly Diagnosed<Properties>[] {
    return Object.entries(this.#resources)
      .filter(([, { Type }]) => types.includes(Type))
      .map(([id, { Properties = {} }]) => ({ id, properties: Properties as Properties }));
  }

  /** The tables of records: those that functions name as such. */
  get tables(): readonly Diagnosed<DiagnosedTable>[] {
    const named = new Set(this.functions.flatMap((fn) => referencesOf(variableOf(fn, "IDEMPOTENCY_TABLE"))));
    return this.of<DiagnosedTable>("AWS::DynamoDB::GlobalTable", "AWS::DynamoDB::Table").filter(({ id }) =>
      named.has(id),
    );
  }

  get functions(): readonly Diagnosed<DiagnosedFunction>[] {
    return this.of("AWS::Lambda::Function");
  }

  /** Functions that run operations. */
  get handlers(): readonly Diagnosed<DiagnosedFunction>[] {
    return this.functions.filter((fn) => variableOf(fn, "IDEMPOTENCY_TABLE") !== undefined && !isSender(fn));
  }

  /** Relays and sweepers. */
  get senders(): readonly Diagnosed<DiagnosedFunction>[] {
    return this.functions.filter(isSender);
  }

  get queues(): readonly Diagnosed<QueueProperties>[] {
    return this.of("AWS::SQS::Queue");
  }

  get mappings(): readonly Diagnosed<MappingProperties>[] {
    return this.of("AWS::Lambda::EventSourceMapping");
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

  /** Mappings from the stream of a table of records. */
  get relayed() {
    const ids = this.tables.map(({ id }) => id);
    return this.mappings.filter(({ properties }) =>
      referencesOf(properties.EventSourceArn).some((id) => ids.includes(id)),
    );
  }

  /** Whether handlers commit messages that somebody has to send. */
  get hasOutbox(): boolean {
    return this.handlers.some((fn) => Number(variableOf(fn, "IDEMPOTENCY_OUTBOX")) > 0);
  }

  deadLettersOf({ properties }: Diagnosed<QueueProperties>): Diagnosed<QueueProperties> | undefined {
    const ids = referencesOf(properties.RedrivePolicy?.deadLetterTargetArn);
    return this.queues.find(({ id }) => ids.includes(id));
  }
}

const isSender = (fn: Diagnosed<DiagnosedFunction>) => variableOf(fn, "OUTBOX_DESTINATIONS") !== undefined;

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
