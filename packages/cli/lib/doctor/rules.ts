// Reads the rules of a synthesis over templates. An option of a construct that no template shows counts as its default, or as
// right: docs/reference/misconfigurations.md lists what that leaves out.

import {
  FUNCTION,
  findDestroyedKey,
  findFifo,
  findInDispatcher,
  findInRunner,
  findInTable,
  findNoConcurrency,
  findNoRelay,
  findNoWay,
  findOverlap,
  findParallelShards,
  findProtection,
  findRelayIndex,
  findRelayKeys,
  findRelayParts,
  findReplicas,
  findRuntime,
  findSecondRelay,
  findShortReconciler,
  findUnusableKey,
  foreignFifoFaults,
  looksLikeRecords,
  needOfSending,
  needOfUpdates,
  noDestinations,
  objectIn,
  ownerPath,
  QUEUE,
  queuesAround,
  type Report,
  type Resource,
  readersFrom,
  readersInto,
  type Severity,
  secondReconciler,
  TABLES,
  valueIn,
} from "onceonly/cdk-rules";
import { ATTRIBUTES, ENVIRONMENT } from "onceonly/kit";
import type { DoctorResource, TemplateApp } from "./template-app.ts";

export interface Finding {
  readonly severity: Severity;
  readonly rule: string;
  readonly resource: string;
  readonly text: string;
}

/** Options of `UseIdempotency` that aren't defaults; it writes them into the function's metadata. */
interface GivenOptions {
  readonly clientWindowSeconds?: unknown;
  readonly allowLongRetention?: boolean;
  readonly outlivesGateway?: boolean;
  readonly ttlAttribute?: string;
}

const DEFAULT_CLIENT_WINDOW = 120;

export function findByRules(app: TemplateApp): { readonly findings: Finding[]; readonly isOurs: boolean } {
  const findings = new Map<string, Finding>();
  const report: Report = (severity, rule, at, text) => {
    findings.set(`${rule} ${text}`, { severity, rule, resource: (at as DoctorResource).id, text });
  };
  const functions = app.ofType("AWS::Lambda::Function").map((fn) => readFunction(app, fn));
  const senders = functions.filter(({ isSender }) => isSender);
  const reconcilers = functions.filter(({ table, isReconciler }) => table !== undefined && isReconciler);
  const runners = functions.filter(
    (each) => each.table !== undefined && !each.isSender && !each.isReconciler,
  );

  for (const each of runners) findInRunning(app, each, senders, report);
  const dispatchers = functions.filter(
    ({ variables }) => variables[ENVIRONMENT.durableFunction] !== undefined,
  );
  for (const each of dispatchers) findInStarting(app, each, report);
  for (const { fn, resource } of reconcilers) {
    findNoWay(app, fn, report, [needOfUpdates(resource)]);
    findRuntime(app, fn, report);
    findNoConcurrency(app, fn, "so no key is ever settled", report);
    findOverlap(app, fn, "interval", report);
    findShortReconciler(app, fn, report);
  }
  findSecondReconcilers(app, reconcilers, report);
  for (const each of senders) findInSender(app, each, senders, report);
  findPartsOfRelays(app, senders, report);
  findInQueues(app, runners, report);
  for (const resource of TABLES.flatMap((type) => app.ofType(type))) {
    const users = [...runners, ...senders, ...reconcilers].filter((each) => each.resource === resource);
    if (users.length > 0 || looksLikeRecords(app, resource)) findInRecords(app, resource, users, report);
  }
  const isOurs = TABLES.flatMap((type) => app.ofType(type)).some((each) => looksLikeRecords(app, each));
  const ours = [...runners, ...senders, ...dispatchers];
  return { findings: [...findings.values()], isOurs: isOurs || ours.length > 0 };
}

/** The FIFO rules hold for every queue: AWS would refuse what they report, or lose what is sent. */
function findInQueues(app: TemplateApp, runners: readonly DoctorFunction[], report: Report): void {
  for (const queue of app.ofType(QUEUE)) findFifo(app, queue, report);
  for (const queue of new Set(runners.flatMap(({ fn }) => queuesAround(app, fn)))) {
    findUnusableKey(app, queue, report);
    findDestroyedKey(app, queue, report);
  }
  const [first] = app.ofType("AWS::Events::Rule");
  if (first) for (const text of foreignFifoFaults(app)) report("refused", "fifo-senders", first, text);
}

function findSecondReconcilers(
  app: TemplateApp,
  reconcilers: readonly DoctorFunction[],
  report: Report,
): void {
  const first = new Map<unknown, string>();
  for (const { fn, resource } of reconcilers) {
    for (const rule of schedulesOf(app, fn)) {
      const [table, path] = [resource ?? fn, ownerPath(rule)];
      const other = first.get(table);
      if (other === undefined) first.set(table, path);
      else report("warned", "second-reconciler", rule, secondReconciler(other, path, ownerPath(table)));
    }
  }
}

interface DoctorFunction {
  readonly fn: DoctorResource;
  readonly variables: Readonly<Record<string, unknown>>;
  readonly given: GivenOptions;
  /** As the variable says it. */
  readonly table: unknown;
  /** The table in the templates, if it is there. */
  readonly resource: DoctorResource | undefined;
  readonly isSender: boolean;
  readonly isReconciler: boolean;
  readonly shards: number;
}

function readFunction(app: TemplateApp, fn: DoctorResource): DoctorFunction {
  const variables = objectIn(valueIn(objectIn(app.propertiesOf(fn).Environment), "Variables"));
  const table = variables[ENVIRONMENT.idempotencyTable];
  const isSender = variables[ENVIRONMENT.outboxDestinations] !== undefined;
  const isConnected =
    variables[ENVIRONMENT.retentionSeconds] !== undefined || variables[ENVIRONMENT.outbox] !== undefined;
  return {
    fn,
    variables,
    given: objectIn(fn.metadata.onceonly) as GivenOptions,
    table,
    resource: tableNamed(app, table, fn),
    isSender,
    isReconciler: !isSender && !isConnected && schedulesOf(app, fn).length > 0,
    shards: Number(variables[ENVIRONMENT.outbox]) || 0,
  };
}

function tableNamed(app: TemplateApp, table: unknown, near: Resource): DoctorResource | undefined {
  const { account = "?", region = "?" } = app.placeOf(near);
  const named = app.namedIn(table, "dynamodb", near);
  // A literal name may be of a table in another stage.
  const far =
    typeof table === "string" ? app.targetsIn(`arn:aws:dynamodb:${region}:${account}:table/${table}`) : [];
  const found = [...named, ...far].find((each) => TABLES.includes(each.cfnResourceType));
  return found as DoctorResource | undefined;
}

const schedulesOf = (app: TemplateApp, fn: Resource) =>
  app.ofType("AWS::Events::Rule").filter((rule) => {
    const { ScheduleExpression, Targets } = app.propertiesOf(rule);
    return ScheduleExpression !== undefined && app.targetsIn(Targets).includes(fn);
  });

/** `undefined` if only the deployment knows it. */
function secondsIn(value: unknown): number | undefined {
  const seconds = typeof value === "string" || typeof value === "number" ? Number(value) : Number.NaN;
  return Number.isNaN(seconds) ? undefined : seconds;
}

function findInRunning(
  app: TemplateApp,
  { fn, variables, given, resource, shards }: DoctorFunction,
  senders: readonly DoctorFunction[],
  report: Report,
): void {
  findInRunner(
    app,
    {
      fn,
      retention: secondsIn(variables[ENVIRONMENT.retentionSeconds]),
      clientWindow: clientWindowIn(given),
      allowLongRetention: given.allowLongRetention ?? false,
      outlivesGateway: given.outlivesGateway ?? false,
      table: resource,
    },
    report,
  );
  if (shards === 0 || resource === undefined) return;
  const isSent = senders.some((each) => each.resource === resource);
  if (!isSent) findNoRelay(fn, ownerPath(resource), report);
}

/** A function with `startOnce` has the variable that `UseStartOnce` sets. */
function findInStarting(app: TemplateApp, { fn, variables, given }: DoctorFunction, report: Report): void {
  const target = app.targetIn(variables[ENVIRONMENT.durableFunction], FUNCTION);
  findInDispatcher(app, { fn, target, clientWindow: clientWindowIn(given) }, report);
}

const clientWindowIn = ({ clientWindowSeconds = DEFAULT_CLIENT_WINDOW }: GivenOptions) =>
  secondsIn(clientWindowSeconds);

function findInSender(
  app: TemplateApp,
  { fn, variables, resource }: DoctorFunction,
  senders: readonly DoctorFunction[],
  report: Report,
): void {
  findOverlap(app, fn, "sweepInterval", report);
  findParallelShards(app, fn, report);
  const destinations = app.targetsIn(variables[ENVIRONMENT.outboxDestinations]);
  const sending = destinations.flatMap((each) => needOfSending(each.cfnResourceType, each));
  findNoWay(app, fn, report, [needOfUpdates(resource), ...sending]);
  if (/^(\[\]|\{\})$/.test(`${variables[ENVIRONMENT.outboxDestinations]}`)) {
    report("refused", "no-destinations", fn, noDestinations(ownerPath(fn).replace(/\/[^/]+$/, "")));
  }
  if (resource === undefined) return;
  const path = ownerPath(fn);
  const use = { at: fn, path, table: resource, tablePath: ownerPath(resource) };
  const { partitionKey, sortKey, indexName } = namesIn(variables);
  const isRelay = (each: Resource) => senders.some((sender) => sender.fn === each);
  if (readersFrom(app, resource).some(({ into }) => into.includes(fn))) {
    findSecondRelay(app, fn, { resource, path: use.tablePath }, isRelay, report);
    findRelayKeys(app, use, { partitionKey, sortKey }, report);
    findRelayIndex(app, use, indexName, report);
  }
}

/** The functions of this package say it by their handlers, and others by what runs them. */
function isSweeper(app: TemplateApp, fn: DoctorResource): boolean {
  const { Handler } = app.propertiesOf(fn);
  if (/\brelay$/.test(`${Handler}`)) return false;
  return /\bsweeper$/.test(`${Handler}`) || readersInto(app, fn).length === 0;
}

/** A relay and a sweeper of one table belong together. */
function findPartsOfRelays(app: TemplateApp, senders: readonly DoctorFunction[], report: Report): void {
  const ofTable = new Map<unknown, DoctorFunction[]>();
  for (const each of senders) {
    const table = each.resource ?? app.textOf(each.table);
    ofTable.set(table, [...(ofTable.get(table) ?? []), each]);
  }
  for (const group of ofTable.values()) {
    const sweepers = group.filter(({ fn }) => isSweeper(app, fn));
    const relays = group.filter(({ fn }) => !isSweeper(app, fn));
    for (const index of Array(Math.max(sweepers.length, relays.length)).keys()) {
      const parts = {
        relay: relays[index]?.fn,
        sweeper: sweepers[index]?.fn,
        table: group[0]?.resource,
        unsent: ATTRIBUTES.unsentSince,
      };
      findRelayParts(app, parts, report);
    }
  }
}

interface OutboxNames {
  readonly partitionKey?: string;
  readonly sortKey?: { readonly name: string };
  readonly ttlAttribute?: string;
  readonly indexName?: string;
}

function namesIn(variables: DoctorFunction["variables"]): OutboxNames {
  try {
    return objectIn(JSON.parse(`${variables[ENVIRONMENT.outboxTable]}`)) as OutboxNames;
  } catch {
    return {};
  }
}

function findInRecords(
  app: TemplateApp,
  resource: DoctorResource,
  users: readonly DoctorFunction[],
  report: Report,
): void {
  const attributes = users.map((each) => each.given.ttlAttribute ?? namesIn(each.variables).ttlAttribute);
  const isOfCdk = resource.metadata["aws:cdk:path"] !== undefined;
  const table = {
    resource,
    at: resource,
    path: ownerPath(resource),
    // Stores are given the key in code; a relay's own is compared by itself.
    keys: undefined,
    // Without the CDK the attribute is given in code.
    ttlAttribute:
      attributes.find((name) => name !== undefined) ??
      (isOfCdk && users.length > 0 ? ATTRIBUTES.expiresAt : undefined),
    hasKey: true,
    hasOutbox: users.some(({ shards, isSender }) => shards > 0 || isSender),
    listsUnknownOutcomes: users.some(({ isReconciler }) => isReconciler),
  };
  findInTable(app, table, report);
  findProtection(app, resource, report);
  if (objectIn(resource.metadata.onceonly).keysPinnedToRegion !== true) findReplicas(app, table, report);
}
