/** What `onceonly start` runs: its tables and queues by their engines, the rest by what the run says of itself. */
import { ENVIRONMENT } from "onceonly/kit";
import type { DescribedResource, DescribedRun } from "onceonly-local";
import { type OptionValues, UsageError } from "../../command.ts";
import { loadTool } from "../../installed.ts";
import { queueName } from "../../queues.ts";
import { TABLE_TYPES, TYPES, variableOf } from "../diagnosed-stack.ts";
import { checkClients, inTime, LiveClients } from "./clients.ts";
import { LiveModel, type LivePlace } from "./model.ts";
import { placeOf, type Streams, sourceOf, streamKey } from "./places.ts";
import { describeQueue } from "./queue.ts";
import { type Looked, seenIn } from "./stack.ts";
import { describeTable } from "./table.ts";

const NOWHERE = { remedy: "check the deployed stack with --stack", isNowhere: true };

/** @throws UsageError where no run answers at the endpoint */
export async function lookAtRun(
  values: OptionValues,
  endpoint: string,
  mostRequests: number,
): Promise<Looked> {
  checkClients(["dynamodb", "sqs"]);
  const run = await describedRun(endpoint);
  const clients = new LiveClients({ profile: values.profile }, mostRequests);
  const model = new LiveModel();
  model.sight.add({ what: "alarms", why: "a local stack has none", types: [TYPES.alarm], ...NOWHERE });
  model.sight.add({
    what: "policies of roles",
    why: "permissions aren't checked locally",
    types: [TYPES.policy],
    ...NOWHERE,
  });
  try {
    await describeRun(run, clients, model);
    const stack = model.stack();
    if (stack.handlers.length === 0)
      throw new UsageError(`no function in the run at ${endpoint} has IDEMPOTENCY_TABLE`);
    return { stack, requests: clients.requests + 1, seen: seenIn(model) };
  } finally {
    clients.close();
  }
}

/** @throws UsageError */
async function describedRun(endpoint: string): Promise<DescribedRun> {
  const advice = "pass the address that `onceonly start` prints after AWS, or name a table with --table";
  const { DESCRIBED_RUN_PATH } = await loadTool("doctor --endpoint", "onceonly-local");
  try {
    const answer = await fetch(new URL(DESCRIBED_RUN_PATH, endpoint), { signal: inTime().abortSignal });
    const run: DescribedRun = Object(await answer.json());
    if (run.onceonly === "run") return run;
  } catch {
    // What answers is something else.
  }
  throw new UsageError(`no run of \`onceonly start\` responds at ${endpoint}: ${advice}`);
}

async function describeRun(run: DescribedRun, clients: LiveClients, model: LiveModel): Promise<void> {
  const of = (...types: readonly string[]) => run.resources.filter(({ type }) => types.includes(type));
  for (const [type, resources] of [
    [TYPES.table, of(...TABLE_TYPES)],
    [TYPES.function, of(TYPES.function)],
    [TYPES.queue, of(TYPES.queue)],
  ] as const)
    for (const resource of resources) model.idOf(type, placeIn(resource), resource.path);
  const streams: Streams = new Map();
  for (const fn of of(TYPES.function)) addFunction(model, fn);
  for (const table of of(...TABLE_TYPES).filter((each) => isNamed(run, placeIn(each)))) {
    const withoutRecovery = { why: "local engines have neither backups nor deletion protection", ...NOWHERE };
    const { dynamodb: endpoint } = run.endpoints;
    const arn = await describeTable(clients, model, placeIn(table), { withoutRecovery, endpoint });
    if (arn !== undefined) streams.set(streamKey(arn), { id: model.idOf(TYPES.table, placeIn(table)), arn });
  }
  for (const queue of of(TYPES.queue))
    if (queue.name !== undefined) await describeQueue(clients, model, queue.name, placeIn(queue));
  for (const mapping of of(TYPES.mapping)) {
    const { path, properties } = mapping;
    const source = sourceOf(model, streams, `${properties.EventSourceArn}`);
    model.add(TYPES.mapping, path, { ...properties, ...source, FunctionName: functionOf(model, mapping) });
  }
  for (const permission of of(TYPES.permission)) {
    const { path, properties } = permission;
    model.add(TYPES.permission, path, { ...properties, FunctionName: functionOf(model, permission) });
  }
  for (const rule of of(TYPES.rule, TYPES.schedule))
    model.add(rule.type, rule.path, { ...rule.properties, Targets: targetsOf(model, rule) });
}

/** The physical id of a queue is its URL. */
const placeIn = ({ region, path, name = path }: DescribedResource): LivePlace => ({
  region,
  name: queueName(name),
});

const tableOf = (fn: DescribedResource): LivePlace | undefined => {
  const table = variableOf({ id: fn.path, properties: fn.properties }, ENVIRONMENT.idempotencyTable);
  return table === undefined ? undefined : placeOf(`${table}`, fn.region);
};

const isNamed = ({ resources }: DescribedRun, { region, name }: LivePlace): boolean =>
  resources
    .filter(({ type }) => type === TYPES.function)
    .map(tableOf)
    .some((table) => table?.name === name && table.region === region);

function addFunction(model: LiveModel, fn: DescribedResource): void {
  const table = tableOf(fn);
  const { Variables = {} } = Object(fn.properties.Environment);
  const named = table && { [ENVIRONMENT.idempotencyTable]: model.refer(TYPES.table, table) };
  const Environment = { Variables: { ...Variables, ...named } };
  model.add(TYPES.function, model.idOf(TYPES.function, placeIn(fn)), { ...fn.properties, Environment });
}

/** A function by its name or its ARN, whichever alias that names. */
function functionOf(model: LiveModel, { region, properties }: DescribedResource): unknown {
  const place = placeOf(`${properties.FunctionName}`, region);
  return model.refer(TYPES.function, { ...place, name: place.name.split(":")[0] ?? "" });
}

function targetsOf(model: LiveModel, { region, properties }: DescribedResource): unknown {
  const { Targets, Target } = properties as Record<string, readonly { readonly Arn?: string }[] | undefined>;
  return [Targets ?? [], Target ?? []]
    .flat()
    .filter(({ Arn = "" }) => Arn.includes(":function:"))
    .map(({ Arn }) => ({
      Arn: functionOf(model, { type: "", path: "", region, properties: { FunctionName: Arn } }),
    }));
}
