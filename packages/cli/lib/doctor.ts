/** `onceonly doctor`: a stack against the checklist for going live, as it was synthesized, or as it lives. It only reads. */
import { readFile } from "node:fs/promises";
import {
  type CliCommand,
  type CommandCall,
  counted,
  listOf,
  noArgument,
  type OptionsConfig,
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

/** Each names what lives, and may be repeated. */
const NAMED = {
  stack: { type: "string", multiple: true },
  table: { type: "string", short: "t", multiple: true },
  function: { type: "string", multiple: true },
  queue: { type: "string", multiple: true },
  alarm: { type: "string", multiple: true },
} as const satisfies OptionsConfig;

const OPTIONS = {
  endpoint: { type: "string" },
  profile: { type: "string" },
  "max-requests": { type: "string", default: DEFAULT_REQUESTS },
  json: { type: "boolean" },
} as const satisfies OptionsConfig;

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
  forms: [
    {
      name: "a template",
      is: ({ values }) => values.template !== undefined,
      options: { template: { type: "string", multiple: true }, json: OPTIONS.json },
      run: diagnoseTemplates,
    },
    {
      name: "what lives",
      is: ({ values }) => Object.keys(NAMED).some((name) => values[name] !== undefined),
      options: { ...NAMED, ...OPTIONS, region: { type: "string" } },
      run: diagnoseLive,
    },
    { name: "a run of `onceonly start`", options: OPTIONS, run: diagnoseRun },
  ],
};

async function diagnoseLive(call: CommandCall): Promise<0 | 1> {
  const { values } = call;
  noArgument(call.positionals, "doctor");
  const named: GivenResources = {
    stacks: listOf(values.stack),
    tables: listOf(values.table),
    queues: listOf(values.queue),
    functions: listOf(values.function),
    alarms: listOf(values.alarm),
  };
  const { alarms, ...others } = named;
  if (alarms.length > 0 && Object.values(others).every(({ length }) => length === 0))
    throw new UsageError("--alarm goes with --stack, --table or --function");
  const most = wholeNumber(values, "max-requests", 1);
  return tell(call, await (await import("./doctor/live/stack.ts")).lookAtLive(values, named, most));
}

async function diagnoseRun(call: CommandCall): Promise<0 | 1> {
  const { values } = call;
  noArgument(call.positionals, "doctor");
  if (values.endpoint === undefined)
    throw new UsageError("give --template, --stack, --table or --endpoint: what is to be looked at?");
  const most = wholeNumber(values, "max-requests", 1);
  const endpoint = `${endpointIn(values)}`;
  return tell(call, await (await import("./doctor/live/run.ts")).lookAtRun(values, endpoint, most));
}

async function diagnoseTemplates(call: CommandCall): Promise<0 | 1> {
  const { values, terminal } = call;
  noArgument(call.positionals, "doctor");
  const stacks: { readonly file: string; readonly stack: DiagnosedStack }[] = [];
  // One after the other, so that of several that cannot be read the first is named.
  for (const file of listOf(values.template)) stacks.push({ file, stack: await readStack(file) });
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
      else {
        terminal.print(`${id}: ${resource === undefined ? what : `${resource} ${what}`}`);
        terminal.print(`  ${remedy}`);
      }
    }
  }
  return { faults, unseen };
}

function tell({ values, terminal }: CommandCall, { stack, requests, seen }: Looked): 0 | 1 {
  const { faults, unseen } = tellFaults({ values, terminal }, stack, ALL_CHECKS, {});
  for (const [{ what, why, remedy, isNowhere = false }, checks] of unseen) {
    if (values.json) terminal.print(JSON.stringify({ unseen: what, why, remedy, checks, isNowhere }));
    else {
      terminal.print(`not looked at: ${what}, ${why} (${shortened(checks)})`);
      terminal.print(`  ${remedy}`);
    }
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
