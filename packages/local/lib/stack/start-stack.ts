// Runs a CDK app on this machine: synthesizes it, deploys its templates on local engines, and undoes everything
// at the end. The one entry to this folder.
import { randomBytes } from "node:crypto";
import { type Clock, systemClock, systemRandom } from "onceonly/kit";
import { EventBridgeModel, SnsModel } from "onceonly-explorer/aws";
import { startAwsEndpoint } from "../aws-endpoint.ts";
import { downService } from "../down-service.ts";
import { startDynamoDB } from "../dynamodb-engine.ts";
import type { LocalEventSource } from "../event-sources/event-source.ts";
import { startFaultProxy } from "../fault-proxy.ts";
import { checkInstalled } from "../installed-package.ts";
import { invokeService } from "../lambda/invoke-api.ts";
import { checkPort } from "../loopback-server.ts";
import { eventBridgeService, snsService } from "../messaging-services.ts";
import type { LocalSchedule } from "../schedules/run-schedule.ts";
import { startSqs } from "../sqs/start-sqs.ts";
import type { SynthesizedStack } from "./assembly.ts";
import { tellEnd } from "./asynchronous-end.ts";
import { deliverEvent, deliverNotification } from "./deliveries.ts";
import { deployStack, type PlannedStack, planStack, readableProperties } from "./deploy-stack.ts";
import { describedRunService } from "./described-run.ts";
import type { Disturbances } from "./disturbances.ts";
import { invokableFunction } from "./invoke-later.ts";
import { nameKey } from "./local-addresses.ts";
import {
  LOCAL_ACCOUNT_ID,
  LOCAL_REGION,
  type LocalBus,
  type LocalEnvironment,
  type LocalFunction,
  type LocalQueue,
  type LocalTable,
  type LocalTopic,
  type NamedResource,
} from "./local-environment.ts";
import { type AppOptions, readApp } from "./read-app.ts";
import { schedulerService } from "./scheduler-service.ts";
import { createUndoList, type UndoList } from "./undo-list.ts";
import { watchApp } from "./watch-app.ts";

export interface StartStackOptions extends AppOptions {
  /** Values of template parameters. @default - the templates' defaults */
  readonly parameters?: Readonly<Record<string, string>> | undefined;
  /** The port of the first API, later APIs get the ports after it; 0 picks free ones. @default 0 */
  readonly port?: number | undefined;
  /** A DynamoDB that runs already. @default - one is started */
  readonly dynamodbEndpoint?: string | undefined;
  /** Set for every function, overriding its template; for example the endpoint of a fault proxy. */
  readonly functionEnvironment?: Readonly<Record<string, string>> | undefined;
  /**
   * The clock of queues, event sources and schedules; functions keep the machine's time.
   * @default the system's clock
   */
  readonly clock?: Clock | undefined;
  /** Watches functions, and disturbs their requests. @default - no disturbances */
  readonly disturbances?: Disturbances | undefined;
  /**
   * Picks up code changes while the stack runs. Called with a line for each: what changed, what runs now, and what needs a
   * restart.
   * @default - doesn't watch for changes
   */
  readonly watch?: ((line: string) => void) | undefined;
  /** Called with every line that a function prints, and with a line for each request. @default - output is discarded */
  readonly log?: ((line: string) => void) | undefined;
}

export interface RunningStack {
  /** The URL of the first API with its stage, without a slash at the end; `undefined` if there is none. */
  readonly url: string | undefined;
  readonly apis: readonly RunningApi[];
  /** By construct path, `Orders`; prefixed with the stack's name if there are several stacks. */
  readonly tables: Readonly<Record<string, LocalTable>>;
  /** By construct path. */
  readonly functions: Readonly<Record<string, LocalFunction>>;
  /** By construct path. */
  readonly queues: Readonly<Record<string, LocalQueue>>;
  /** The event sources that feed functions from queues and streams, by construct path. */
  readonly eventSources: Readonly<Record<string, LocalEventSource>>;
  /** By construct path. */
  readonly schedules: Readonly<Record<string, LocalSchedule>>;
  /** By construct path. */
  readonly topics: Readonly<Record<string, LocalTopic>>;
  /** By construct path: event buses, without the default one. */
  readonly buses: Readonly<Record<string, LocalBus>>;
  /** The URLs of functions, by construct path. */
  readonly functionUrls: Readonly<Record<string, string>>;
  /** `aws` is the endpoint for Lambda's Invoke, SNS and EventBridge. */
  readonly endpoints: { readonly dynamodb: string; readonly sqs: string; readonly aws: string };
  readonly outputs: Readonly<Record<string, unknown>>;
  /** What the templates contain and this run leaves out, one item per line. */
  readonly notRun: readonly string[];
  /** Ends all processes, closes all ports, removes all temporary folders. */
  stop(): Promise<void>;
}

export interface RunningApi {
  readonly path: string;
  readonly url: string;
  readonly routes: readonly string[];
}

/** @throws Error that says what to do, if the app can't be synthesized or something is missing. */
export async function startStack(options: StartStackOptions): Promise<RunningStack> {
  const { signal, log = () => undefined, port = 0, clock = systemClock, disturbances } = options;
  const undo = createUndoList();
  const stopping = new AbortController();
  checkInstalled();
  await checkPort(port);
  try {
    // The engine comes up while the app is synthesized.
    const starting = startDynamoDB({ endpoint: options.dynamodbEndpoint });
    const noEngine = new AbortController();
    starting.catch((error: unknown) => noEngine.abort(error));
    undo.add(async () => (await starting.catch(() => undefined))?.stop());
    const reading = await readApp(options, noEngine.signal, undo);
    const dynamodb = await starting;
    const { stacks } = reading;
    const [first] = stacks;
    if (!first) throw new Error(`no stack in ${options.folder}: add one to the app`);
    const common = { clock, region: first.region ?? LOCAL_REGION, accountId: LOCAL_ACCOUNT_ID };
    const isDown = (destination: string) => disturbances?.isDown(destination) === true;
    const sqs = await startSqs({ ...common, isDown });
    undo.add(sqs.stop);
    const sns = new SnsModel({
      ...common,
      random: systemRandom,
      deliver: (message, subscription) => void deliverNotification(environment, message, subscription),
    });
    const eventBridge = new EventBridgeModel({
      ...common,
      random: systemRandom,
      deliver: (delivery) => void deliverEvent(environment, delivery),
    });
    const proxied = disturbances && (await disturbedEndpoint(dynamodb.endpoint, disturbances, undo));
    const aws = await startAwsEndpoint([
      downService(isDown, (name) => `arn:aws:events:${common.region}:${common.accountId}:event-bus/${name}`),
      (request) => describedRunService(environment)(request),
      invokeService((name) => invokableFunction(environment, name)),
      schedulerService(() => environment),
      eventBridgeService(eventBridge),
      snsService(sns),
    ]);
    undo.add(aws.stop);

    let nextPort = port;
    const named = new Map<string, NamedResource>();
    const environment: LocalEnvironment = {
      log,
      clock,
      accounts: reading.isTemplate ? undefined : new Set(stacks.flatMap(({ account }) => account ?? [])),
      region: common.region,
      named,
      dynamodbEndpoint: dynamodb.endpoint,
      sqs,
      awsEndpoint: aws.endpoint,
      sns,
      eventBridge,
      dynamodbIsOurs: options.dynamodbEndpoint === undefined,
      functionEnvironment: {
        ...(proxied !== undefined && { AWS_ENDPOINT_URL_DYNAMODB: proxied }),
        ...options.functionEnvironment,
      },
      invoked: (path, payload) => disturbances?.invoked(path, payload),
      nextPort: () => (port === 0 ? 0 : nextPort++),
      tables: new Map(),
      functions: new Map(),
      queues: new Map(),
      eventSources: new Map(),
      schedules: new Map(),
      topics: new Map(),
      buses: new Map(),
      rulePaths: new Map(),
      functionUrls: new Map(),
      asynchronous: new Map(),
      tellEnd: (fn, ended) => tellEnd(environment, fn, ended),
      apis: new Map(),
      deployed: [],
      notRun: [],
      signal: stopping.signal,
      onStop: undo.add,
    };
    const { planned, outputs } = await deployAll(stacks, { environment, named }, options);
    signal?.throwIfAborted();
    if (options.watch) {
      const watching = watchApp({
        clock,
        signal: stopping.signal,
        running: planned,
        first: reading,
        readAgain: () => readApp(options, stopping.signal, undo),
        report: options.watch,
      });
      undo.add(() => watching);
    }

    const apis = [...environment.apis.values()].map(({ path, server }) => ({
      path,
      url: server.stageUrl,
      routes: [...server.routeKeys],
    }));
    return {
      url: apis[0]?.url,
      apis,
      tables: Object.fromEntries(environment.tables),
      functions: Object.fromEntries(environment.functions),
      queues: Object.fromEntries(environment.queues),
      eventSources: Object.fromEntries(environment.eventSources),
      schedules: Object.fromEntries(environment.schedules),
      topics: Object.fromEntries(environment.topics),
      buses: Object.fromEntries(environment.buses),
      functionUrls: Object.fromEntries(environment.functionUrls),
      endpoints: { dynamodb: dynamodb.endpoint, sqs: sqs.endpoint, aws: aws.endpoint },
      outputs,
      notRun: environment.notRun,
      stop() {
        stopping.abort();
        return undo.run();
      },
    };
  } catch (error) {
    stopping.abort();
    await undo.run();
    throw error;
  }
}

/** Where functions find DynamoDB; `undefined` for a real one, which is not disturbed. */
async function disturbedEndpoint(
  target: string,
  disturbances: Disturbances,
  undo: UndoList,
): Promise<string | undefined> {
  if (!target.startsWith("http:")) return undefined;
  const proxy = await startFaultProxy({
    target,
    decide: disturbances.decide,
    onAnswer: disturbances.answered,
  });
  undo.add(proxy.stop);
  return proxy.endpoint;
}

async function deployAll(
  stacks: readonly SynthesizedStack[],
  { environment, named }: { environment: LocalEnvironment; named: Map<string, NamedResource> },
  { parameters = {}, signal }: StartStackOptions,
): Promise<{ readonly planned: readonly PlannedStack[]; readonly outputs: Record<string, unknown> }> {
  const shared = { exports: new Map(), outputs: new Map() };
  const runId = randomBytes(4).toString("hex");
  const planned = stacks.map((stack) => {
    const hasOwnName = stacks.every((other) => other === stack || other.name !== stack.name);
    const pathPrefix = stacks.length > 1 ? `${hasOwnName ? stack.name : stack.place}/` : "";
    return planStack(stack, { environment, parameters, runId, pathPrefix, ...shared });
  });
  for (const plan of planned) {
    for (const [logicalId, { Type, Properties = {} }] of Object.entries(plan.resources)) {
      const key = nameKey(Type, readableProperties(plan, Properties));
      if (key !== undefined && !named.has(key)) named.set(key, { stack: plan.stack.place, logicalId });
    }
  }
  const isDeployed = ({ stack, logicalId }: NamedResource) =>
    planned.some((plan) => plan.stack.place === stack && plan.deployed.has(logicalId));
  const finishing: [prefix: string, finish: () => Promise<Record<string, unknown>>][] = [];
  for (const plan of planned) {
    signal?.throwIfAborted();
    finishing.push([plan.options.pathPrefix, await deployStack(plan, isDeployed)]);
  }
  const outputs: Record<string, unknown> = {};
  for (const [prefix, finish] of finishing) {
    for (const [name, value] of Object.entries(await finish())) outputs[prefix + name] = value;
  }
  return { planned, outputs };
}
