/** The parts of a simulation: models, time, network, and the scene outside of all hosts. */

import { DurableExecutions } from "../aws/durable/durable-executions.ts";
import { LambdaModel } from "../aws/durable/lambda-model.ts";
import { DynamoDBModel } from "../aws/dynamodb/dynamodb-model.ts";
import type { DynamoDBCall } from "../aws/dynamodb/intercept.ts";
import { EventBridgeModel } from "../aws/eventbridge/eventbridge-model.ts";
import { S3Model } from "../aws/http-services/s3-model.ts";
import { SecretsModel } from "../aws/http-services/secrets-model.ts";
import { SesModel } from "../aws/http-services/ses-model.ts";
import { SsmModel } from "../aws/http-services/ssm-model.ts";
import { SnsModel } from "../aws/sns/sns-model.ts";
import { SqsModel } from "../aws/sqs/sqs-model.ts";
import { Activities } from "./activities.ts";
import { Courier } from "./courier.ts";
import { Deliveries } from "./deliveries.ts";
import { Host } from "./host.ts";
import { HostScene } from "./host-scene.ts";
import { type Latencies, Network } from "./network.ts";
import { OutsideScene } from "./outside-scene.ts";
import { CallQuota, type QueueNature, type Quotas } from "./quotas.ts";
import { currentScene, type Scene } from "./scene.ts";
import { SeededRandom } from "./seeded-random.ts";
import { Services } from "./services.ts";
import type { Stage } from "./stage.ts";
import { StaleReads } from "./stale-reads.ts";
import { Trace } from "./trace.ts";
import { TtlClock } from "./ttl-clock.ts";
import { VirtualTime } from "./virtual-time.ts";

export interface WorldOptions {
  readonly seed: number;
  readonly startAt: number;
  readonly ttlLagSeconds: number | undefined;
  readonly latencyMs: Latencies;
  readonly quotas: Quotas;
  readonly checkRunning: (what: string) => void;
  /** Reports an error outside of hosts that no code waits for. */
  readonly onFailure: (error: unknown) => void;
}

/** A durable execution is one of a version. */
const FUNCTION_ARN = "arn:aws:lambda:us-east-1:000000000000:function:durable:1";
const WRITES = /^(Put|Update|Delete|BatchWrite|TransactWrite)/;

export class World {
  readonly dynamodb: DynamoDBModel;
  readonly sqs: SqsModel;
  readonly sns: SnsModel;
  readonly eventBridge: EventBridgeModel;
  readonly ssm = new SsmModel();
  readonly secrets = new SecretsModel();
  readonly s3: S3Model;
  readonly ses = new SesModel();
  readonly durable: DurableExecutions;
  readonly deliveries: Deliveries;
  readonly time: VirtualTime;
  readonly random: SeededRandom;
  readonly trace: Trace;
  readonly network: Network;
  readonly services: Services;
  readonly outside: Scene;
  readonly stage: Stage;
  /** The queues by their names. */
  readonly natures = new Map<string, QueueNature>();
  readonly #writeListeners = new Set<() => void>();

  constructor({ seed, startAt, ttlLagSeconds, latencyMs, quotas, checkRunning, onFailure }: WorldOptions) {
    const time = new VirtualTime(startAt);
    const staleReads = new StaleReads();
    this.time = time;
    this.random = new SeededRandom(seed);
    this.trace = new Trace(() => time.now() - startAt);
    this.network = new Network(
      this.trace,
      latencyMs,
      new CallQuota(quotas.fifoCallsPerSecond, (name) => this.natures.get(name)),
    );
    this.dynamodb = new DynamoDBModel({
      clock: time,
      intercept: (call, run) => this.#pass(call, run),
      isStale: staleReads.isStale,
      ttlLagSeconds,
    });
    this.sqs = new SqsModel({
      clock: time,
      random: this.random.stream("sqs"),
      maxInFlight: quotas.inFlight,
      maxScanned: quotas.fifoScanned,
      disorderOf: (name) => this.natures.get(name),
    });
    if (ttlLagSeconds !== undefined) {
      const ttl = new TtlClock(time, this.dynamodb, ttlLagSeconds, () => this.#notifyWriteListeners());
      this.onWrite(() => ttl.look());
    }
    const outside = () => this.outside;
    const courierOptions = { time, trace: this.trace, random: this.random.stream("courier"), outside };
    const activities = new Activities();
    const courier = new Courier({ ...courierOptions, activities });
    this.deliveries = new Deliveries({
      sqs: this.sqs,
      sns: () => this.sns,
      eventBridge: () => this.eventBridge,
      courier,
    });
    this.sns = new SnsModel({
      clock: time,
      random: this.random.stream("sns"),
      deliver: this.deliveries.ofTopic,
    });
    this.eventBridge = new EventBridgeModel({
      clock: time,
      random: this.random.stream("eventbridge"),
      deliver: this.deliveries.ofBus,
    });
    this.s3 = new S3Model(time);
    this.durable = new DurableExecutions(time.now, FUNCTION_ARN);
    this.services = new Services({
      dynamodb: this.dynamodb,
      sqs: this.sqs,
      sns: this.sns,
      eventBridge: this.eventBridge,
      small: {
        ssm: this.ssm.service,
        secretsmanager: this.secrets.service,
        s3: this.s3,
        ses: this.ses,
        lambda: new LambdaModel(this.durable),
      },
      staleReads,
      now: time.now,
      outside,
    });
    this.outside = new OutsideScene(time, this.random.stream("outside"), this.services, onFailure);
    this.stage = this.#newStage(checkRunning, activities);
  }

  /** Calls `listener` after each write to DynamoDB. */
  onWrite(listener: () => void): void {
    this.#writeListeners.add(listener);
  }

  /** All calls of DynamoDB pass here: calls of hosts get their delays and faults. */
  #pass(call: DynamoDBCall, run: () => Promise<unknown>): Promise<unknown> {
    const runAndTell = async () => {
      try {
        return await run();
      } finally {
        if (WRITES.test(call.operation)) this.#notifyWriteListeners();
      }
    };
    const scene = currentScene();
    if (!(scene instanceof HostScene)) return runAndTell();
    return scene.ask(this.services.dynamodbExchange({ ...call, attempt: undefined }, runAndTell));
  }

  #notifyWriteListeners(): void {
    for (const listener of this.#writeListeners) listener();
  }

  #newStage(checkRunning: (what: string) => void, activities: Activities): Stage {
    let hosts = 0;
    let invocations = 0;
    const { time, trace, random, network, services } = this;
    return {
      time,
      trace,
      random: random.stream("stage"),
      network,
      services,
      activities,
      newHost: (id, skewMs) => new Host({ id, order: ++hosts, skewMs, time, trace, random }),
      newInvocation: () => ++invocations,
      checkRunning,
    };
  }
}
