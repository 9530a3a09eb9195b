// The senders of committed messages: a relay on the table's stream, and a sweeper for messages that the stream lost.
import { Annotations, Lazy, Stack, Token } from "aws-cdk-lib";
import type { Metric, MetricOptions } from "aws-cdk-lib/aws-cloudwatch";
import type { Rule } from "aws-cdk-lib/aws-events";
import type { Grant } from "aws-cdk-lib/aws-iam";
import {
  Architecture,
  Function as LambdaFunction,
  Runtime,
  StartingPosition,
  Tracing,
} from "aws-cdk-lib/aws-lambda";
import { DynamoEventSource, SqsDlq } from "aws-cdk-lib/aws-lambda-event-sources";
import { Construct } from "constructs";
import { ATTRIBUTES, ENVIRONMENT, METRICS } from "../contract.ts";
import { acknowledge } from "./acknowledge.ts";
import { brand, isBranded } from "./brand.ts";
import { knownSeconds } from "./checks/consumers.ts";
import { expectKey } from "./checks/encryption-keys.ts";
import { needOf, needOfTable } from "./checks/needs.ts";
import { warnOfDestinations } from "./checks/operations.ts";
import { checkRegion, tableFor } from "./checks/placement.ts";
import { checkOnlyRelay, secondRelayFaults } from "./checks/relays.ts";
import { reported } from "./checks/report.ts";
import { ResolvedApp, resourceOf } from "./checks/resolved-app.ts";
import { walkOnce } from "./checks/resources.ts";
import { warnOfSharedService } from "./checks/services.ts";
import { relayFaults, tableResource } from "./checks/table-resources.ts";
import { checkShards } from "./checks/tables.ts";
import type { IIdempotencyTable, TableNames } from "./idempotency-table-interface.ts";
import { injected } from "./injected.ts";
import { allowNetworkInterfaces, leanLogging } from "./lean-logging.ts";
import { OutboxAddresses } from "./outbox-addresses.ts";
import { addressesOf, grantSendingTo, type OutboxDestination } from "./outbox-destination.ts";
import { type OutboxRelayProps, RELAY_DEFAULTS, STREAM_RETENTION } from "./outbox-relay-props.ts";
import { NEED_OF_SCHEDULES, OutboxSchedules } from "./outbox-schedules.ts";
import { prebuiltCode } from "./prebuilt-code.ts";
import { findNoWay } from "./rules/networks.ts";
import { findRelayParts } from "./rules/relay-parts.ts";
import { noDestinations } from "./rules/relays.ts";
import { runOnSchedule, warnOfOverlap } from "./scheduled.ts";
import { addEventSource } from "./stable-ids.ts";
import { overrideFault, setVariable } from "./variables.ts";
import { withDefaults } from "./with-defaults.ts";

const BRAND = Symbol.for("onceonly.OutboxRelay");

type FunctionSettings = OutboxRelayProps & Required<Pick<OutboxRelayProps, keyof typeof RELAY_DEFAULTS>>;

/**
 * Sends the messages that operations of a table commit, with two functions that come with the package. The relay reads the
 * table's stream from its beginning, in order, and by default never gives up a message. Every minute the sweeper looks for
 * messages that the stream has lost.
 *
 * A table has one relay, for all of its operations and destinations. A second one in the same app is refused.
 */
export class OutboxRelay extends Construct {
  /** The id that property injectors of the app use for this construct. */
  static readonly PROPERTY_INJECTION_ID: string = "onceonly.cdk.OutboxRelay";

  /** Whether it's an outbox relay, even if another copy of this package made it. */
  static isOutboxRelay(construct: unknown): construct is OutboxRelay {
    return isBranded(construct, BRAND);
  }

  /** The function that reads the table's stream. */
  readonly relay: LambdaFunction;

  /** The function that the schedule runs. */
  readonly sweeper: LambdaFunction;

  /** The schedule of the sweeper. */
  readonly sweeping: Rule;

  /** The `service` dimension of the metrics of both functions. */
  readonly service: string;

  /** The namespace of the metrics of both functions. */
  readonly namespace: string;

  readonly #destinations: OutboxAddresses;
  readonly #sentTo: OutboxDestination[] = [];
  readonly #schedules: OutboxSchedules | undefined;
  readonly #variables = new Map<LambdaFunction, Readonly<Record<string, string>>>();

  constructor(scope: Construct, id: string, props: OutboxRelayProps) {
    super(scope, id);
    brand(this, BRAND);
    props = injected(OutboxRelay.PROPERTY_INJECTION_ID, scope, id, props);
    this.#check(props);
    this.#destinations = new OutboxAddresses(
      this.node.path,
      props.destinations === undefined ? undefined : !Array.isArray(props.destinations),
    );
    const { table, service = METRICS.service, namespace = METRICS.namespace } = props;
    this.service = service;
    this.namespace = namespace;
    warnOfSharedService(this, { service, namespace }, { table, isWatching: false });
    const settings = withDefaults(props, RELAY_DEFAULTS);
    const { scheduleGroup, undeliveredQueue } = props;
    this.#schedules = scheduleGroup && new OutboxSchedules(this, scheduleGroup, undeliveredQueue);
    this.relay = this.#addFunction("Relay", settings);
    table.grantRelay(this.relay);
    addEventSource(
      this.relay,
      "Stream",
      new DynamoEventSource(table.table, {
        startingPosition: StartingPosition.TRIM_HORIZON,
        filters: [...table.outboxFilters],
        batchSize: settings.batchSize,
        reportBatchItemFailures: true,
        // The relay reports the first change that it couldn't send, and Lambda retries from there.
        bisectBatchOnError: false,
        ...(props.retryAttempts !== undefined && { retryAttempts: props.retryAttempts }),
        ...(props.parallelizationFactor !== undefined && {
          parallelizationFactor: props.parallelizationFactor,
        }),
        ...(props.maxRecordAge && { maxRecordAge: props.maxRecordAge }),
        ...(props.onFailureQueue && { onFailure: new SqsDlq(props.onFailureQueue) }),
      }),
    );

    if (props.onFailureQueue) {
      acknowledge(
        props.onFailureQueue,
        "AwsSolutions::AwsSolutions-SQS3",
        "it's the dead-letter queue of a stream, which its own settings don't show",
      );
    }

    this.sweeper = this.#addFunction("Sweeper", settings);
    table.grantSweeper(this.sweeper, props.indexName);
    this.sweeping = runOnSchedule(this, "Sweep", settings.sweepInterval, this.sweeper);

    for (const sender of [this.relay, this.sweeper])
      this.#schedules?.grant(sender, "scheduler:CreateSchedule");
    this.#addDestinations(props.destinations);
    this.#warn(props);
    walkOnce(this);
    this.node.addValidation({
      validate: () => [
        ...this.#faults(table),
        ...secondRelayFaults(this, table),
        ...relayFaults(this, table, namesOf(props), props.indexName),
      ],
    });
  }

  /**
   * Lets relay and sweeper send to a queue, a topic or an event bus. The destination applies to all operations, or only to
   * `operations` if the relay has destinations per operation.
   * @throws Error if some destinations list operations and others don't
   */
  addDestination(destination: OutboxDestination, ...operations: string[]): Grant {
    this.#destinations.add(addressesOf(destination, this.relay), operations);
    this.#sentTo.push(destination);
    if ("queueArn" in destination) {
      expectKey(this, destination, destination.queueArn, destination.encryptionMasterKey);
    } else if ("topicArn" in destination) {
      expectKey(this, destination, destination.topicArn, destination.masterKey);
    }
    this.#schedules?.grantSendingTo(destination);
    return grantSendingTo(destination, this.relay).combine(grantSendingTo(destination, this.sweeper));
  }

  /**
   * Lets a function create and delete schedules of `scheduleGroup` itself, as a `MessageProducer` with `scheduler` does, and
   * sets its variable `OUTBOX_SCHEDULER` to that option, as JSON. A saga needs it for its timeouts.
   * @throws Error if the relay has no `scheduleGroup`
   */
  grantScheduling(fn: LambdaFunction): Grant {
    if (!this.#schedules)
      throw new Error(
        `${this.node.path} has no scheduleGroup: pass one, so that ${fn.node.path} can create schedules in it`,
      );
    setVariable(fn, ENVIRONMENT.outboxScheduler, this.#schedules.asOption);
    return this.#schedules.grant(fn, "scheduler:CreateSchedule", "scheduler:DeleteSchedule");
  }

  /** How far the relay is behind the stream, in milliseconds. The stream drops changes after 24 hours. */
  metricIteratorAge(options?: MetricOptions): Metric {
    return this.relay.metric("IteratorAge", { statistic: "Maximum", ...options });
  }

  #addDestinations(destinations: OutboxRelayProps["destinations"] = []): void {
    if (Array.isArray(destinations)) {
      for (const destination of destinations) this.addDestination(destination);
      return;
    }
    for (const [operation, list] of Object.entries(destinations)) {
      if (list.length === 0) {
        throw new Error(
          `destinations of ${this.node.path} has no destination for ${operation}: add at least one, or remove the operation`,
        );
      }
      for (const destination of list) this.addDestination(destination, operation);
    }
  }

  #addFunction(id: string, settings: FunctionSettings): LambdaFunction {
    const { table, timeout, memorySize, service, namespace, tracing } = settings;
    const { vpc, vpcSubnets, securityGroups, reservedConcurrentExecutions } = settings;
    const shards = settings.shards ?? table.outboxShards;
    const names = definedOf({ ...namesOf(settings), indexName: settings.indexName });
    const environment = {
      [ENVIRONMENT.idempotencyTable]: tableFor(this, table),
      // Destinations may be added later.
      [ENVIRONMENT.outboxDestinations]: Lazy.string({
        produce: () => Stack.of(this).toJsonString(this.#destinations.asOption),
      }),
      [ENVIRONMENT.outboxShards]: `${shards}`,
      ...(this.#schedules && { [ENVIRONMENT.outboxScheduler]: this.#schedules.asOption }),
      ...(Object.keys(names).length > 0 && {
        [ENVIRONMENT.outboxTable]: Stack.of(this).toJsonString(names),
      }),
      ...(service !== undefined && { [ENVIRONMENT.metricsService]: service }),
      ...(namespace !== undefined && { [ENVIRONMENT.metricsNamespace]: namespace }),
    };
    const fn = new LambdaFunction(this, id, {
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      handler: `index.${id.toLowerCase()}`,
      code: prebuiltCode(),
      timeout,
      memorySize,
      environment,
      ...definedOf({ vpc, vpcSubnets, securityGroups, reservedConcurrentExecutions, tracing }),
      ...leanLogging(this, id, settings),
    });
    this.#variables.set(fn, environment);
    allowNetworkInterfaces(fn);
    for (const pack of ["HIPAA.Security", "NIST.800.53.R5"]) {
      acknowledge(
        fn,
        `${pack}::${pack}-LambdaDLQ`,
        "a dead-letter queue is for asynchronous events: the stream keeps what the relay hasn't sent, and the sweeper retries in its next run",
      );
    }
    if (fn.role && !settings.role && tracing !== undefined && tracing !== Tracing.DISABLED) {
      acknowledge(
        fn.role,
        "AwsSolutions::AwsSolutions-IAM5[Resource::*]",
        "X-Ray doesn't support resource-level permissions for these two actions",
      );
    }
    return fn;
  }

  #check({ table, shards, maxRecordAge, onFailureQueue }: OutboxRelayProps): void {
    const { path } = this.node;
    checkRegion(this, table);
    checkShards(path, "shards", shards);
    if (shards !== undefined && shards < table.outboxShards) {
      throw new Error(
        `shards of ${path} is ${shards}, but outboxShards of ${table.node.path} is ${table.outboxShards}: messages in the other shards would never be found. Make it at least ${table.outboxShards}, or leave it out`,
      );
    }
    if (table.restoredAt) {
      throw new Error(
        `${table.node.path} was restored at ${table.restoredAt.toISOString()}: ${path} would resend messages that were sent after its backup. Leave the relay out until you have reviewed the backup's unsent messages and removed restoredAt`,
      );
    }
    if (onFailureQueue?.fifo) {
      throw new Error(
        `onFailureQueue of ${path} is ${onFailureQueue.node.path}, a FIFO queue: Lambda only sends failed events to standard queues`,
      );
    }
    checkOnlyRelay(this, table);
    const longest = STREAM_RETENTION.toSeconds();
    const age = maxRecordAge && knownSeconds(maxRecordAge);
    if (age !== undefined && age > longest) {
      throw new Error(
        `maxRecordAge of ${path} is ${age} s, but a table's stream keeps changes for ${longest} s: make it shorter, or leave it out`,
      );
    }
  }

  #warn({ parallelizationFactor = 1, ...props }: OutboxRelayProps): void {
    const { path } = this.node;
    const { timeout, sweepInterval } = withDefaults(props, RELAY_DEFAULTS);
    warnOfOverlap(this, { path, timeout, interval: sweepInterval, intervalName: "sweepInterval" });
    if (!Token.isUnresolved(parallelizationFactor) && parallelizationFactor > 1) {
      Annotations.of(this).addWarningV2(
        "onceonly:parallel-shard",
        `parallelizationFactor of ${path} is ${parallelizationFactor}, so commits of one group can overtake each other: set it to 1, or acknowledge this if order doesn't matter`,
      );
    }
  }

  /** Checks the template, because an app may have overridden parts of this construct. */
  #faults(table: IIdempotencyTable): string[] {
    warnOfDestinations(this, table, this.#destinations.operations);
    const app = ResolvedApp.of(this);
    const [relay, sweeper] = [resourceOf(this.relay), resourceOf(this.sweeper)];
    const scheduling = this.#schedules ? [NEED_OF_SCHEDULES] : [];
    const needs = [needOfTable(table.table), ...this.#sentTo.flatMap(needOf), ...scheduling];
    const faults = reported(this.relay, (report) => {
      findNoWay(app, relay, report, needs);
      const unsent = ATTRIBUTES.unsentSince;
      findRelayParts(app, { relay, sweeper, table: tableResource(table.table), unsent }, report);
    });
    const overridden = [...this.#variables].flatMap(([fn, variables]) =>
      Object.entries(variables).flatMap(([name, value]) => overrideFault(fn, name, value)),
    );
    const none = noDestinations(this.node.path);
    return [...faults, ...overridden, ...(this.#destinations.isEmpty ? [none] : [])];
  }
}

/** The relay's own settings take precedence over the table's. */
function namesOf({ table, partitionKey, sortKey, ttlAttribute }: OutboxRelayProps): TableNames {
  const { names } = table;
  return {
    partitionKey: partitionKey ?? names.partitionKey,
    sortKey: sortKey ?? names.sortKey,
    ttlAttribute: ttlAttribute ?? names.ttlAttribute,
  };
}

const definedOf = (values: object) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
