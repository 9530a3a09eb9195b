// The shop's resources in Terraform's language. A property without a counterpart here is an error, so none is lost.
import { Blocks, type Body, blockOf, Expression, quoted, textOf } from "./hcl.ts";
import { PREBUILT, type Resource, type ShopTemplate } from "./shop.ts";

type Properties = Readonly<Record<string, unknown>>;
type Resources = ShopTemplate["Resources"];

const HEAD = `# Made from the constructs by tools/without-cdk. How to deploy it: docs/guides/without-cdk.md

terraform {
  required_version = ">= 1.5"
  required_providers {
    aws     = { source = "hashicorp/aws", version = ">= 6.25" }
    archive = { source = "hashicorp/archive", version = ">= 2.4" }
  }
}

data "aws_partition" "current" {}

variable "name" {
  description = "The names of all resources begin with it"
  type        = string
  default     = "shop"
}`;

export function terraformOf({ Parameters, Resources }: ShopTemplate): string {
  const variables = Object.entries(Parameters).map(([id, { Description }]) =>
    blockOf(`variable "${snake(id)}"`, { description: Description, type: new Expression("string") }),
  );
  const folders = new Set(
    Object.values(Resources)
      .map(({ Properties: { Code } }) => Code)
      .filter((code) => typeof code === "string"),
  );
  const archives = [...folders].map((folder) =>
    blockOf(`data "archive_file" "${archiveOf(folder)}"`, {
      type: "zip",
      source_dir: new Expression(`"\${path.module}/${folder}"`),
      output_path: new Expression(`"\${path.module}/.terraform/${archiveOf(folder)}.zip"`),
    }),
  );
  const resources = Object.entries(Resources).flatMap(([id, resource]) =>
    new Translation(id, resource, Resources).blocks(),
  );
  return `${[HEAD, ...variables, ...archives, ...resources].join("\n\n")}\n`;
}

const snake = (id: string) => id.replace(/(?<!^)([A-Z])/g, "_$1").toLowerCase();
const kebab = (id: string) => snake(id).replaceAll("_", "-");
const archiveOf = (folder: string) =>
  folder === PREBUILT ? "outbox" : folder.replace(/^.*\//, "").replaceAll("-", "_");

const VERSION = "AWS::Lambda::Version";

/** The types of both languages; for some of CloudFormation there are two, or none. */
const TYPES: Readonly<Record<string, string>> = {
  "AWS::CloudWatch::Alarm": "aws_cloudwatch_metric_alarm",
  "AWS::DynamoDB::GlobalTable": "aws_dynamodb_table",
  "AWS::Events::Rule": "aws_cloudwatch_event_rule",
  "AWS::IAM::Policy": "aws_iam_role_policy",
  "AWS::IAM::Role": "aws_iam_role",
  "AWS::Lambda::Alias": "aws_lambda_alias",
  "AWS::Lambda::EventSourceMapping": "aws_lambda_event_source_mapping",
  "AWS::Lambda::Function": "aws_lambda_function",
  "AWS::Lambda::Permission": "aws_lambda_permission",
  "AWS::Logs::LogGroup": "aws_cloudwatch_log_group",
  "AWS::SQS::Queue": "aws_sqs_queue",
  "AWS::SQS::QueuePolicy": "aws_sqs_queue_policy",
};

/** The value of `Ref`. */
const REFS: Readonly<Record<string, string>> = {
  "AWS::DynamoDB::GlobalTable": "name",
  "AWS::IAM::Role": "name",
  "AWS::Lambda::Alias": "arn",
  "AWS::Lambda::Function": "function_name",
  "AWS::Logs::LogGroup": "name",
  "AWS::SQS::Queue": "url",
};

const ATTRIBUTES: Readonly<Record<string, string>> = {
  Arn: "arn",
  QueueName: "name",
  StreamArn: "stream_arn",
};

/** One resource, whose properties are consumed one after the other until none is left. */
class Translation {
  readonly #id: string;
  readonly #resource: Resource;
  readonly #resources: Resources;
  readonly #left: Map<string, unknown>;

  constructor(id: string, resource: Resource, resources: Resources) {
    this.#id = id;
    this.#resource = resource;
    this.#resources = resources;
    this.#left = new Map(Object.entries(resource.Properties));
  }

  blocks(): string[] {
    const { Type } = this.#resource;
    // Terraform's function publishes its versions itself.
    if (Type === VERSION) return [];
    const translate = this.#of[Type];
    if (!translate) throw new Error(`${Type} of ${this.#id} has no counterpart in Terraform`);
    const { beside = [], ...body } = translate() as Body & { readonly beside?: readonly string[] };
    const left = [...this.#left.keys()];
    if (left.length > 0) throw new Error(`${this.#id} has properties without counterpart: ${left}`);
    return [blockOf(`resource "${TYPES[Type]}" "${snake(this.#id)}"`, body), ...beside];
  }

  readonly #of: Readonly<Record<string, () => Body>> = {
    "AWS::CloudWatch::Alarm": () => ({
      alarm_name: this.#named(),
      ...this.#same(
        "AlarmDescription",
        "AlarmActions",
        "ComparisonOperator",
        "EvaluationPeriods",
        "DatapointsToAlarm",
        "MetricName",
        "Namespace",
        "Period",
        "Statistic",
        "Threshold",
        "TreatMissingData",
      ),
      dimensions: dimensionsOf(this.#take("Dimensions")),
      metric_query: blocksOf(this.#take("Metrics"), metricQuery),
    }),
    "AWS::DynamoDB::GlobalTable": () => this.#table(),
    "AWS::Events::Rule": () => this.#rule(),
    "AWS::IAM::Policy": () => {
      const [role] = this.#take("Roles") as [unknown];
      return { name: this.#take("PolicyName"), role, policy: encoded(this.#take("PolicyDocument")) };
    },
    "AWS::IAM::Role": () => ({
      name: this.#named(),
      assume_role_policy: encoded(this.#take("AssumeRolePolicyDocument")),
      beside: listIn(this.#take("ManagedPolicyArns")).map((policy_arn) =>
        blockOf(`resource "aws_iam_role_policy_attachment" "${snake(this.#id)}"`, {
          role: this.#own("name"),
          policy_arn,
        }),
      ),
    }),
    "AWS::Lambda::Alias": () => this.#same("Name", "FunctionName", "FunctionVersion"),
    "AWS::Lambda::EventSourceMapping": () => ({
      ...this.#same(
        "EventSourceArn",
        "FunctionName",
        "BatchSize",
        "Enabled",
        "StartingPosition",
        "BisectBatchOnFunctionError",
        "FunctionResponseTypes",
      ),
      filter_criteria: blocksOf(this.#take("FilterCriteria"), ({ Filters }) => ({
        filter: blocksOf(Filters, ({ Pattern }) => ({ pattern: Pattern })),
      })),
    }),
    "AWS::Lambda::Function": () => {
      const archive = `data.archive_file.${archiveOf(String(this.#take("Code")))}`;
      const { Variables } = this.#take("Environment") as Properties;
      return {
        function_name: this.#named(),
        filename: new Expression(`${archive}.output_path`),
        source_code_hash: new Expression(`${archive}.output_base64sha256`),
        ...this.#same("Handler", "Runtime", "Architectures", "MemorySize", "Timeout", "Role"),
        publish: this.#hasVersion() || undefined,
        environment: new Blocks({ variables: Variables }),
        durable_config: blocksOf(this.#take("DurableConfig"), (config) => ({
          execution_timeout: config.ExecutionTimeout,
          retention_period: config.RetentionPeriodInDays,
        })),
        logging_config: blocksOf(this.#take("LoggingConfig"), ({ LogFormat, LogGroup }) => ({
          log_format: LogFormat,
          log_group: LogGroup,
        })),
        depends_on: this.#rights(),
      };
    },
    "AWS::Lambda::Permission": () => this.#same("Action", "FunctionName", "Principal", "SourceArn"),
    "AWS::Logs::LogGroup": () => ({
      name: this.#named("/aws/lambda/"),
      ...this.#same("RetentionInDays"),
      skip_destroy: this.#resource.DeletionPolicy === "Retain",
    }),
    "AWS::SQS::Queue": () => ({
      name: this.#named("", this.#left.has("FifoQueue") ? ".fifo" : ""),
      ...this.#same("FifoQueue", "ContentBasedDeduplication", "DeduplicationScope", "FifoThroughputLimit"),
      visibility_timeout_seconds: this.#take("VisibilityTimeout"),
      message_retention_seconds: this.#take("MessageRetentionPeriod"),
      ...this.#same("SqsManagedSseEnabled"),
      redrive_policy: encoded(this.#take("RedrivePolicy")),
      redrive_allow_policy: encoded(this.#take("RedriveAllowPolicy")),
    }),
    "AWS::SQS::QueuePolicy": () => {
      const [queue_url] = this.#take("Queues") as [unknown];
      return { queue_url, policy: encoded(this.#take("PolicyDocument")) };
    },
  };

  #table(): Body {
    const [replica, ...others] = this.#take("Replicas") as [Properties];
    const { StreamViewType } = this.#take("StreamSpecification") as Properties;
    const { PointInTimeRecoverySpecification, DeletionProtectionEnabled } = replica;
    if (others.length > 0) throw new Error(`${this.#id} has replicas, which have no counterpart here`);
    return {
      name: this.#named(),
      ...this.#same("BillingMode"),
      ...keyOf(this.#take("KeySchema")),
      stream_enabled: true,
      stream_view_type: StreamViewType,
      deletion_protection_enabled: DeletionProtectionEnabled,
      attribute: blocksOf(this.#take("AttributeDefinitions"), ({ AttributeName, AttributeType }) => ({
        name: AttributeName,
        type: AttributeType,
      })),
      global_secondary_index: blocksOf(this.#take("GlobalSecondaryIndexes"), (index) => ({
        name: index.IndexName,
        ...keyOf(index.KeySchema),
        projection_type: Object(index.Projection).ProjectionType,
      })),
      ttl: blocksOf(this.#take("TimeToLiveSpecification"), ({ AttributeName, Enabled }) => ({
        attribute_name: AttributeName,
        enabled: Enabled,
      })),
      point_in_time_recovery: new Blocks({
        enabled: Object(PointInTimeRecoverySpecification).PointInTimeRecoveryEnabled,
      }),
      lifecycle: new Blocks({ prevent_destroy: this.#resource.DeletionPolicy === "Retain" }),
    };
  }

  #rule(): Body {
    const [{ Arn }] = this.#take("Targets") as [Properties];
    const target = { rule: this.#own("name"), arn: Arn };
    return {
      name: this.#named(),
      ...this.#same("ScheduleExpression", "State"),
      beside: [blockOf(`resource "aws_cloudwatch_event_target" "${snake(this.#id)}"`, target)],
    };
  }

  #take(name: string): unknown {
    const value = this.#left.get(name);
    this.#left.delete(name);
    return value === undefined ? undefined : this.#terms(value);
  }

  /** Those whose name differs by its form only. */
  #same(...names: string[]): Body {
    return Object.fromEntries(names.map((name) => [snake(name), this.#take(name)]));
  }

  #named(before = "", after = ""): Expression {
    return new Expression(`"${before}\${var.name}-${kebab(this.#id)}${after}"`);
  }

  /** Lambda refuses an event source that its function may not read yet. */
  #rights(): Expression[] {
    const { DependsOn = [] } = this.#resource;
    const rights = DependsOn.filter((id) => this.#resources[id]?.Type === "AWS::IAM::Policy");
    return rights.map((id) => new Expression(`aws_iam_role_policy.${snake(id)}`));
  }

  #own(attribute: string): Expression {
    return this.#reference(this.#id, attribute);
  }

  /** A value with the references of Terraform. */
  #terms(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.#terms(each));
    if (typeof value !== "object" || value === null) return value;
    const { Ref, "Fn::GetAtt": attribute, "Fn::Join": joined } = value as Properties;
    if (Ref !== undefined) return this.#ref(String(Ref));
    if (Array.isArray(attribute)) return this.#attribute(attribute as [string, string]);
    if (Array.isArray(joined)) return this.#joined(joined as [string, unknown[]]);
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, this.#terms(each)]));
  }

  #ref(name: string): Expression {
    if (name === "AWS::Partition") return new Expression("data.aws_partition.current.partition");
    const resource = this.#resources[name];
    if (!resource) return new Expression(`var.${snake(name)}`);
    return this.#reference(name, REFS[resource.Type]);
  }

  #hasVersion(): boolean {
    return Object.values(this.#resources).some(
      ({ Type, Properties }) => Type === VERSION && Object(Properties.FunctionName).Ref === this.#id,
    );
  }

  #attribute([id, name]: readonly [string, string]): Expression {
    const { Type, Properties } = this.#resources[id] as Resource;
    if (Type === VERSION) return this.#reference(Object(Properties.FunctionName).Ref, "version");
    return this.#reference(id, ATTRIBUTES[name]);
  }

  #reference(id: string, attribute: string | undefined): Expression {
    const type = TYPES[this.#resources[id]?.Type ?? ""];
    if (!type || !attribute) throw new Error(`${this.#id} refers to what ${id} has not in Terraform`);
    return new Expression(`${type}.${snake(id)}.${attribute}`);
  }

  #joined([separator, parts]: readonly [string, readonly unknown[]]): Expression {
    const texts = parts.map((part) => {
      const term = this.#terms(part);
      return term instanceof Expression ? `\${${term.text}}` : quoted(String(term)).slice(1, -1);
    });
    return new Expression(`"${texts.join(separator)}"`);
  }
}

const listIn = (value: unknown): unknown[] => (value === undefined ? [] : [value].flat());

function blocksOf(value: unknown, body: (each: Properties) => Body): Blocks | undefined {
  return value === undefined ? undefined : new Blocks(...(listIn(value) as Properties[]).map(body));
}

function encoded(value: unknown): Expression | undefined {
  if (value === undefined) return undefined;
  return new Expression(`jsonencode(${textOf(value)})`);
}

function keyOf(schema: unknown): Body {
  const [hash, range] = schema as Properties[];
  return { hash_key: hash?.AttributeName, range_key: range?.AttributeName };
}

function dimensionsOf(value: unknown): Body | undefined {
  if (value === undefined) return undefined;
  return Object.fromEntries((value as Properties[]).map(({ Name, Value }) => [String(Name), Value]));
}

function metricQuery({ Id, Expression: expression, Label, ReturnData, MetricStat }: Properties): Body {
  return {
    id: Id,
    expression,
    label: Label,
    return_data: ReturnData,
    metric: blocksOf(MetricStat, ({ Metric, Period, Stat }) => {
      const { MetricName, Namespace, Dimensions } = Metric as Properties;
      return {
        metric_name: MetricName,
        namespace: Namespace,
        period: Period,
        stat: Stat,
        dimensions: dimensionsOf(Dimensions),
      };
    }),
  };
}
