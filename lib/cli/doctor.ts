/** `onceonly doctor`: a stack against the checklist for going live, as it was synthesized, or as it lives. It only reads. */
import { readFile } from "node:fs/promises";
import {
  type CliCommand,
  type CommandCall,
  counted,
  listOf,
  type OptionValues,
  UsageError,
  wholeNumber,
} from "./command.ts";
import { ALARM_CHECKS } from "./doctor/alarm-checks.ts";
import { DiagnosedStack, type DoctorCheck } from "./doctor/diagnosed-stack.ts";
import type { GivenResources, Looked } from "./doctor/live/stack.ts";
import { LIVE_CHECKS } from "./doctor/live-checks.ts";
import { QUEUE_CHECKS } from "./doctor/queue-checks.ts";
import type { Unseen } from "./doctor/sight.ts";
import { TABLE_CHECKS } from "./doctor/table-checks.ts";
import { endpointIn } from "./table.ts";

export const DOCTOR_CHECKS: readonly DoctorCheck[] = [...TABLE_CHECKS, ...QUEUE_CHECKS, ...ALARM_CHECKS];

export const ALL_CHECKS: readonly DoctorCheck[] = [...DOCTOR_CHECKS, ...LIVE_CHECKS];

const DEFAULT_REQUESTS = "500";

export const doctor: CliCommand = {
  usage: `usage: onceonly doctor --template <file> [options]
       onceonly doctor --stack <name> [options]
       onceonly doctor --table <name> --function <name> [--queue <URL>] [--alarm <name>] [options]
       onceonly doctor --endpoint <address of AWS that \`onceonly start\` prints> [options]

Holds a stack against the checklist of docs/operate/checklist.md, and prints each fault with its remedy. --template reads a
synthesized stack and sends nothing. The others look at what lives: they only read, and say what they could not look at. What
an app imports, and what code does, none of them sees. The exit status is 1 where there is a fault, or where something
could not be looked at.

  --template <file>           such as cdk.out/Shop.template.json, may be repeated
  --stack <name or ARN>       a deployed stack of CloudFormation with those nested in it, may be repeated
  --table <name or ARN>       a table of records
  --function <name or ARN>    a function that runs operations, or sends what they committed
  --queue <URL>               a queue
  --alarm <name>              an alarm; a star at its end takes all alarms that begin so
                              each of these may be repeated, and added to --stack
  --endpoint <url>            a run of \`onceonly start\`; with --stack or --table another AWS
  --region, --profile         as of the AWS CLI (default: the environment's)
  --max-requests <number>     what is not looked at after so many requests is named (default ${DEFAULT_REQUESTS})
  --json                      print a JSON object for each fault, for what was not looked at, and at the end`,
  options: {
    template: { type: "string", multiple: true },
    stack: { type: "string", multiple: true },
    table: { type: "string", short: "t", multiple: true },
    function: { type: "string", multiple: true },
    queue: { type: "string", multiple: true },
    alarm: { type: "string", multiple: true },
    endpoint: { type: "string" },
    region: { type: "string" },
    profile: { type: "string" },
    "max-requests": { type: "string", default: DEFAULT_REQUESTS },
    json: { type: "boolean" },
  },
  async run(call) {
    const { values, positionals } = call;
    if (positionals.length > 0)
      throw new UsageError(`doctor takes options alone, got ${positionals.length} arguments`);
    const files = listOf(values.template);
    const named: GivenResources = {
      stacks: listOf(values.stack),
      tables: listOf(values.table),
      queues: listOf(values.queue),
      functions: listOf(values.function),
      alarms: listOf(values.alarm),
    };
    const isLive = [named.stacks, named.tables, named.queues, named.functions].some(
      ({ length }) => length > 0,
    );
    const isOfLive = isLive || named.alarms.length > 0 || values.endpoint !== undefined;
    if (files.length > 0) {
      if (isOfLive || values.region !== undefined || values.profile !== undefined)
        throw new UsageError("--template is read alone: ask for what lives by another command");
      return diagnoseTemplates(call, files);
    }
    if (!isLive && named.alarms.length > 0)
      throw new UsageError("--alarm goes with --stack, --table or --function");
    if (!isOfLive)
      throw new UsageError("give --template, --stack, --table or --endpoint: what is to be looked at?");
    return tell(call, await lookAt(values, named, isLive));
  },
};

async function lookAt(values: OptionValues, named: GivenResources, isLive: boolean): Promise<Looked> {
  const most = wholeNumber(values, "max-requests", 1);
  const endpoint = endpointIn(values);
  if (isLive) return (await import("./doctor/live/stack.ts")).lookAtLive(values, named, most);
  return (await import("./doctor/live/run.ts")).lookAtRun(values, `${endpoint}`, most);
}

async function diagnoseTemplates(
  { values, terminal }: CommandCall,
  files: readonly string[],
): Promise<0 | 1> {
  const stacks = await Promise.all(files.map(async (file) => ({ file, stack: await readStack(file) })));
  let faults = 0;
  for (const { file, stack } of stacks) {
    if (stack.handlers.length === 0)
      throw new UsageError(`no function in ${file} has IDEMPOTENCY_TABLE: is this the right template?`);
    faults += tellFaults({ values, terminal }, stack, DOCTOR_CHECKS, { template: file }).faults;
  }
  if (!values.json)
    terminal.print(
      faults === 0 ? `no fault found by ${DOCTOR_CHECKS.length} checks` : counted(faults, "fault"),
    );
  return faults === 0 ? 0 : 1;
}

async function readStack(file: string): Promise<DiagnosedStack> {
  try {
    return new DiagnosedStack(Object(JSON.parse(await readFile(file, "utf8"))));
  } catch (error) {
    throw new UsageError(
      `cannot read the template ${file}: ${(error as NodeJS.ErrnoException).code ?? (error as Error).name}`,
    );
  }
}

/** Prints each fault, and tells which checks had to do without something. */
function tellFaults(
  { values, terminal }: Pick<CommandCall, "values" | "terminal">,
  stack: DiagnosedStack,
  checks: readonly DoctorCheck[],
  place: object,
) {
  let faults = 0;
  const unseen = new Map<Unseen, string[]>();
  for (const check of checks) {
    const { id, remedy } = check;
    const examined = stack.examine(check);
    for (const each of examined.unseen) unseen.set(each, [...(unseen.get(each) ?? []), id]);
    for (const { id: resource, what } of examined.complaints) {
      faults += 1;
      if (values.json) terminal.print(JSON.stringify({ check: id, resource, what, remedy, ...place }));
      else terminal.print(`${id}: ${resource === undefined ? what : `${resource} ${what}`}\n  ${remedy}`);
    }
  }
  return { faults, unseen };
}

function tell({ values, terminal }: CommandCall, { stack, requests, seen }: Looked): 0 | 1 {
  const { faults, unseen } = tellFaults({ values, terminal }, stack, ALL_CHECKS, {});
  for (const [{ what, why, remedy, isNowhere = false }, checks] of unseen) {
    if (values.json) terminal.print(JSON.stringify({ unseen: what, why, remedy, checks, isNowhere }));
    else terminal.print(`not looked at: ${what}, ${why} (${shortened(checks)})\n  ${remedy}`);
  }
  const blind = [...unseen.keys()].filter(({ isNowhere }) => !isNowhere).length;
  if (values.json) terminal.print(JSON.stringify({ faults, notLookedAt: blind, seen, requests }));
  else {
    const whole = ALL_CHECKS.length - new Set([...unseen.values()].flat()).size;
    const found =
      faults === 0 ? `no fault found by ${whole} of ${ALL_CHECKS.length} checks` : counted(faults, "fault");
    const but = blind === 0 ? "" : `, and ${blind} could not be looked at`;
    terminal.print(`${found}${but}; looked at ${seen}, with ${counted(requests, "request")}`);
  }
  return faults + blind === 0 ? 0 : 1;
}

const MOST_NAMES = 6;

const shortened = (checks: readonly string[]): string =>
  checks.length > MOST_NAMES ? `${checks.length} checks` : checks.join(", ");
