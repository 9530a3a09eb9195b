// Shared by all resources of a local run: names that represent an account, the engines, the running resources,
// and what must be undone at the end. Holds state; starts nothing by itself.

import type { Clock } from "onceonly/kit";
import type { EventBridgeModel, SnsModel } from "onceonly-explorer/aws";
import type { LocalEventSource } from "../event-sources/event-source.ts";
import type { FunctionHost } from "../lambda/function-host.ts";
import type { EndedInvocation } from "../schedules/invoke-asynchronously.ts";
import type { LocalSchedule } from "../schedules/run-schedule.ts";
import type { SqsEngine } from "../sqs/start-sqs.ts";
import type { Asset } from "./assembly.ts";
import type { Authorizer } from "./gateway/authorizer.ts";
import type { BrokenRoute, Gateway, GatewayRoute } from "./gateway/gateway.ts";
import type { GatewayResponseProperties } from "./gateway/gateway-responses.ts";

/** The account that everything local belongs to. */
export const LOCAL_ACCOUNT_ID = "000000000000";
export const LOCAL_REGION = "us-east-1";
export const LOCAL_PARTITION = "aws";
export const LOCAL_URL_SUFFIX = "amazonaws.com";

export interface LocalTable {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  /** `undefined` if the table has no stream. */
  readonly streamArn: string | undefined;
}

export interface LocalFunction {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly timeoutSeconds: number;
  readonly host: FunctionHost;
  /** The folder that its processes get their code from. */
  readonly codeDirectory: string;
  /**
   * Applies a changed template from the next invocation on.
   * @returns whether anything changed, or why the change can't be applied while it runs
   */
  redeploy(resource: ResolvedResource, place: StackPlace): Promise<boolean | { readonly problem: string }>;
}

export interface LocalQueue {
  readonly logicalId: string;
  readonly name: string;
  readonly arn: string;
  readonly url: string;
}

/** How asynchronous invocations are retried and reported. */
export interface AsynchronousSettings {
  /** How often a failed event is tried again. @default 2 */
  readonly retries?: number | undefined;
  /** How old an event may get before it is given up. @default 6 hours */
  readonly maxAgeSeconds?: number | undefined;
  /** The ARN of a queue, a topic, a function or a bus. */
  readonly onSuccess?: string | undefined;
  readonly onFailure?: string | undefined;
  /** The ARN of a queue or a topic. */
  readonly deadLetters?: string | undefined;
}

export interface LocalTopic {
  readonly logicalId: string;
  readonly arn: string;
}

export type LocalBus = LocalTopic;

export interface LocalApi {
  readonly logicalId: string;
  readonly path: string;
  readonly server: Gateway;
  /** By id, as routes refer to them. */
  readonly integrations: Map<string, Omit<GatewayRoute, "authorizer"> | BrokenRoute>;
  /** By id, as routes refer to them. */
  readonly authorizers: Map<string, Authorizer | BrokenRoute>;
  /** The paths of a REST API's resources, by id. */
  readonly resources: Map<string, string>;
  /** A REST API's customized responses for the requests that it answers itself, by type. */
  readonly gatewayResponses: Map<string, GatewayResponseProperties>;
  /** Routes that depend on the variables of a stage: why one of them cannot be run in such a stage. */
  readonly stagedProblems: ((variables: Readonly<Record<string, string>>) => string | undefined)[];
}

export interface DeployedResource {
  readonly type: string;
  /** For people, and as the key of a running resource: `Orders`. */
  readonly path: string;
  readonly properties: Readonly<Record<string, unknown>>;
  readonly region: string;
}

/** A resource to which the app gave its name. */
export interface NamedResource {
  /** Its stack's place in the app. */
  readonly stack: string;
  readonly logicalId: string;
}

export interface LocalEnvironment {
  /** The accounts that the app's stacks are deployed to; `undefined` for a template, which doesn't name any. */
  readonly accounts: ReadonlySet<string> | undefined;
  /** The region of queues, topics and buses: that of the first stack. */
  readonly region: string;
  /** Of all stacks, by `nameKey`. */
  readonly named: ReadonlyMap<string, NamedResource>;
  readonly log: (line: string) => void;
  /** The clock of queues, event sources, schedules and caches; functions keep the machine's time. */
  readonly clock: Clock;
  /** Where tables are created and functions find them. */
  readonly dynamodbEndpoint: string;
  /** The engine in which queues are created and functions find them. */
  readonly sqs: SqsEngine;
  /** Functions find Lambda, SNS and EventBridge there. */
  readonly awsEndpoint: string;
  readonly sns: SnsModel;
  readonly eventBridge: EventBridgeModel;
  /** Whether tables disappear with the engine, so they need not be deleted. */
  readonly dynamodbIsOurs: boolean;
  /** Set for every function, overriding its template. */
  readonly functionEnvironment: Readonly<Record<string, string>>;
  /** Called before each invocation of a function. */
  readonly invoked: (path: string, payload: string) => void;
  /** The port of the next HTTP API; 0 picks any free one. */
  nextPort(): number;
  /** By construct path. */
  readonly tables: Map<string, LocalTable>;
  /** By construct path. */
  readonly functions: Map<string, LocalFunction>;
  /** By construct path. */
  readonly queues: Map<string, LocalQueue>;
  /** By construct path. */
  readonly eventSources: Map<string, LocalEventSource>;
  /** By construct path. */
  readonly schedules: Map<string, LocalSchedule>;
  /** By construct path. */
  readonly topics: Map<string, LocalTopic>;
  /** By construct path. */
  readonly buses: Map<string, LocalBus>;
  /** How asynchronous invocations are retried and reported, by the function's name. */
  readonly asynchronous: Map<string, AsynchronousSettings>;
  /** Reports the end of an asynchronous invocation to its destinations. Never rejects. */
  tellEnd(fn: LocalFunction, ended: EndedInvocation): Promise<void>;
  /** The construct paths of rules with patterns, by ARN. */
  readonly rulePaths: Map<string, string>;
  /** By construct path: the URLs of functions. */
  readonly functionUrls: Map<string, string>;
  /** By API id. */
  readonly apis: Map<string, LocalApi>;
  /** What the templates say about the resources that the doctor checks. */
  readonly deployed: DeployedResource[];
  /** What the run leaves out, one item per line. */
  readonly notRun: string[];
  /** Aborts when the run stops, before anything is undone. */
  readonly signal: AbortSignal;
  /** Called in reverse order when the run stops. */
  onStop(undo: () => Promise<void>): void;
}

/** A resource of a template whose properties are resolved. */
export interface ResolvedResource extends Omit<DeployedResource, "region"> {
  readonly logicalId: string;
  /** A name of the kind that CloudFormation generates. */
  readonly generatedName: string;
}

/** Where one stack's resource is deployed. */
export interface StackPlace {
  readonly stackName: string;
  readonly region: string;
  readonly assets: ReadonlyMap<string, Asset>;
}

/** The function of an ARN, whatever version or alias it names, also inside an invocation URI. */
export function functionOfArn(environment: LocalEnvironment, arn: string): LocalFunction | undefined {
  const [, region, account, name] = /:lambda:([\w-]*):(\d*):function:([\w-]+)/.exec(arn) ?? [];
  // A function of another account may have the same name.
  if (account !== LOCAL_ACCOUNT_ID) return undefined;
  const named = [...environment.functions.values()].filter((candidate) => candidate.name === name);
  return named.find((candidate) => candidate.arn.split(":")[3] === region) ?? named[0];
}

/** The function for an ARN, a partial ARN or a name, with or without an alias or version. */
export function functionNamed(environment: LocalEnvironment, nameOrArn: string): LocalFunction | undefined {
  if (nameOrArn.startsWith("arn:")) return functionOfArn(environment, nameOrArn);
  const [, partial] = /:function:([\w-]+)/.exec(nameOrArn) ?? [];
  const name = partial ?? nameOrArn.split(":")[0];
  return [...environment.functions.values()].find((candidate) => candidate.name === name);
}

/** The construct path of an entry in one of the environment's maps. */
export function pathOf<T>(deployed: ReadonlyMap<string, T>, wanted: T): string {
  return [...deployed].find(([, each]) => each === wanted)?.[0] ?? "";
}

export function queueOfArn(environment: LocalEnvironment, arn: string): LocalQueue | undefined {
  return [...environment.queues.values()].find((candidate) => candidate.arn === arn);
}

/** @throws Error if something with that name already runs: it would answer in place of this one */
export function checkUnused(taken: Iterable<string>, name: string, path: string): void {
  if (![...taken].includes(name)) return;
  const advice = "select one of the stacks with --stack, or don't set the name";
  throw new Error(`${path} is named ${name}, like another resource of this run: ${advice}`);
}

/** For `LocalEnvironment.notRun`: the resource that is left out, and why. */
export function notRunLine(
  resource: { readonly type: string; readonly path: string; readonly logicalId: string },
  reason: string,
): string {
  return `${resource.type} ${resource.path} (${resource.logicalId}): ${reason}`;
}
