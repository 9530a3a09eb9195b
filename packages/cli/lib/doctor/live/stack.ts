/** What lives of the stacks, tables, queues and functions that a person names. */
import type { StackResourceSummary } from "@aws-sdk/client-cloudformation";
import { parseAddress } from "onceonly/kit";
import { counted, type OptionValues, UsageError } from "../../command.ts";
import { queueName } from "../../queues.ts";
import { type DiagnosedStack, TABLE_TYPES, TYPES } from "../diagnosed-stack.ts";
import { describeAlarms } from "./alarms.ts";
import { checkClients, inTime, LiveClients, type LiveService } from "./clients.ts";
import { LiveModel, look, unseenOf } from "./model.ts";
import { placeOf } from "./places.ts";
import { LiveWalk } from "./walk.ts";

/** What the person named. */
export interface GivenResources {
  readonly stacks: readonly string[];
  readonly tables: readonly string[];
  readonly queues: readonly string[];
  readonly functions: readonly string[];
  readonly alarms: readonly string[];
}

/** A stack that was looked at, and at which cost. */
export interface Looked {
  readonly stack: DiagnosedStack;
  readonly requests: number;
  /** In words: what was seen, and how much of it. */
  readonly seen: string;
}

const NEEDED: readonly LiveService[] = ["dynamodb", "sqs", "lambda", "cloudwatch", "eventbridge"];

/** @throws UsageError before any request for what cannot be right; Error where a stack cannot be listed */
export async function lookAtLive(
  values: OptionValues,
  named: GivenResources,
  mostRequests: number,
): Promise<Looked> {
  for (const url of named.queues)
    if (!parseAddress("queue", url)) throw new UsageError(`not a queue URL: ${url}`);
  checkClients(named.stacks.length > 0 ? ["cloudformation", ...NEEDED] : NEEDED);
  const clients = new LiveClients(values, mostRequests);
  try {
    const model = new LiveModel();
    const region = await clients.region();
    const found: FoundResource[] = [];
    for (const stack of named.stacks) found.push(...(await listStack(clients, model, stack, region)));
    await walk(clients, model, named, found, region);
    const stack = model.stack();
    if (stack.handlers.length === 0) noHandlers(model, named, stack);
    return { stack, requests: clients.requests, seen: seenIn(model) };
  } finally {
    clients.close();
  }
}

/** A resource of a stack that the doctor looks at. */
interface FoundResource {
  readonly type: string;
  readonly region: string;
  readonly label: string;
  readonly physicalId: string;
}

async function walk(
  clients: LiveClients,
  model: LiveModel,
  named: GivenResources,
  found: readonly FoundResource[],
  region: string,
): Promise<void> {
  const of = (type: string) => found.filter((resource) => resource.type === type);
  for (const { type, label, physicalId, ...place } of found) {
    const name = nameOf(type, physicalId);
    model.idOf(type, { region: place.region, name }, `${label} (${name})`);
  }
  const aliases = of("AWS::Lambda::Alias").map(({ physicalId }) => physicalId);
  const live = new LiveWalk(clients, model, aliases);
  for (const given of named.functions) model.give(model.idOf(TYPES.function, functionPlace(given, region)));
  for (const given of named.tables) model.give(model.idOf(TYPES.table, placeOf(given, region)));
  // Queues come first: their URLs say more than the ARNs by which others name them.
  for (const each of of(TYPES.queue)) await live.queue(each.physicalId, each.region);
  for (const url of named.queues) await live.queue(url, parseAddress("queue", url)?.region ?? region);
  for (const each of of(TYPES.function)) await live.function({ region: each.region, name: each.physicalId });
  for (const given of named.functions) {
    const { qualifier, ...place } = functionPlace(given, region);
    await live.function(place, qualifier);
  }
  for (const given of named.tables) await live.table(placeOf(given, region));
  for (const each of of(TYPES.mapping)) await live.mapping(each.physicalId, each.region);
  const alarms = of(TYPES.alarm);
  for (const each of new Set(alarms.map((alarm) => alarm.region))) {
    const names = alarms.filter((alarm) => alarm.region === each).map(({ physicalId }) => physicalId);
    await describeAlarms(clients, model, names, each);
  }
  await describeAlarms(clients, model, named.alarms, region);
  if (named.stacks.length === 0 && named.alarms.length === 0) {
    const remedy = "pass --alarm <name>, or <prefix>*";
    model.sight.add({ what: "alarms", why: "none given", remedy, types: [TYPES.alarm] });
  }
  const policies = { what: "policies of roles", types: [TYPES.policy], isNowhere: true };
  model.sight.add({
    ...policies,
    why: "they are only checked in templates",
    remedy: "run doctor --template too",
  });
  await live.finish(named.stacks.length > 0);
}

const LOOKED_AT: ReadonlySet<string> = new Set([
  ...TABLE_TYPES,
  TYPES.queue,
  TYPES.function,
  TYPES.mapping,
  TYPES.alarm,
  "AWS::Lambda::Alias",
]);
const NESTED = "AWS::CloudFormation::Stack";

/** The resources of a stack, and of those nested in it. @throws Error where the stack itself cannot be listed */
async function listStack(
  clients: LiveClients,
  model: LiveModel,
  stack: string,
  home: string,
  prefix = "",
): Promise<readonly FoundResource[]> {
  const region = /^arn:[\w-]+:cloudformation:([\w-]+):/.exec(stack)?.[1] ?? home;
  const found: FoundResource[] = [];
  let NextToken: string | undefined;
  do {
    const page = await look("cloudformation:ListStackResources", async () => {
      const cloudformation = await clients.of("cloudformation", region);
      return cloudformation.listStackResources(
        { StackName: stack, ...(NextToken !== undefined && { NextToken }) },
        inTime(),
      );
    });
    if (page.is !== "seen") {
      const { why, remedy } = page.is === "gone" ? { why: "not found", remedy: "check its name" } : page;
      const isUnknown = why === "ValidationError";
      if (prefix === "" && found.length === 0)
        throw new Error(
          isUnknown
            ? `no stack ${stack} in ${region}: check its name, --region and --profile`
            : `can't list the stack ${stack} in ${region}: ${why}; ${remedy}`,
        );
      model.sight.add(unseenOf({ is: "unseen", why, remedy }, `part of the stack ${prefix}${stack}`));
      return found;
    }
    for (const resource of page.value.StackResourceSummaries ?? [])
      found.push(...(await described(resource)));
    NextToken = page.value.NextToken;
  } while (NextToken !== undefined);
  return found;

  async function described(resource: StackResourceSummary): Promise<readonly FoundResource[]> {
    const {
      ResourceType: type = "",
      LogicalResourceId,
      PhysicalResourceId: physicalId,
      ResourceStatus,
    } = resource;
    if (/^DELETE_(COMPLETE|SKIPPED)$/.test(`${ResourceStatus}`)) return [];
    const label = `${prefix}${LogicalResourceId}`;
    if (!LOOKED_AT.has(type) && type !== NESTED) return [];
    if (!physicalId) {
      const remedy = "wait for its deployment, or fix it";
      model.sight.add({ what: label, why: `not created: ${ResourceStatus}`, remedy, types: [type] });
      return [];
    }
    if (type === NESTED) return listStack(clients, model, physicalId, region, `${label}/`);
    return [{ type: TABLE_TYPES.includes(type) ? TYPES.table : type, region, label, physicalId }];
  }
}

/** The physical id of a queue is its URL. */
const nameOf = (type: string, physicalId: string): string =>
  type === TYPES.queue ? queueName(physicalId) : physicalId;

/** A function by its name, with an alias or a version, or by its ARN. */
function functionPlace(given: string, home: string) {
  const { region, name } = placeOf(given, home);
  const [base = "", qualifier] = name.split(":");
  return { region, name: base, ...(qualifier !== undefined && { qualifier }) };
}

/** @throws UsageError where all was looked at, and nothing of a stack uses onceonly */
function noHandlers(model: LiveModel, named: GivenResources, { senders }: DiagnosedStack): void {
  if (model.sight.lacks(TYPES.function)) return;
  const isStackAlone = [named.tables, named.functions, named.queues, senders].every(
    ({ length }) => length === 0,
  );
  if (isStackAlone)
    throw new UsageError(
      `no function in ${named.stacks.join(", ")} has IDEMPOTENCY_TABLE: is this the right stack? If so, pass --table and --function`,
    );
  const remedy = "pass --function <name>, or the --stack that contains them";
  model.sight.add({
    what: "functions that run operations",
    why: "none found",
    remedy,
    types: [TYPES.function],
  });
}

export function seenIn(model: LiveModel): string {
  const { table, queue, function: fn, mapping, alarm } = TYPES;
  const counts = [
    ["table", table],
    ["queue", queue],
    ["function", fn],
    ["event source", mapping],
    ["alarm", alarm],
  ].map(([word, type]) => counted(model.count(`${type}`), `${word}`));
  return counts.join(", ");
}
