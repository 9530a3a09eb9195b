/** `onceonly doctor`: a stack against the checklist for going live, as it was synthesized, or as it lives. It only reads. */
import { basename } from "node:path";
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
import { mergeTemplates } from "./doctor/merge-templates.ts";
import { QUEUE_CHECKS } from "./doctor/queue-checks.ts";
import { type ReadStack, readStacks } from "./doctor/read-templates.ts";
import { findByRules } from "./doctor/rules.ts";
import type { Unseen } from "./doctor/sight.ts";
import { TABLE_CHECKS } from "./doctor/table-checks.ts";
import { TemplateApp } from "./doctor/template-app.ts";
import { endpointIn } from "./table.ts";

const DOCTOR_CHECKS: readonly DoctorCheck[] = [...TABLE_CHECKS, ...QUEUE_CHECKS, ...ALARM_CHECKS];

/** What the rules of a synthesis don't say of templates. */
export const TEMPLATE_CHECKS: readonly DoctorCheck[] = DOCTOR_CHECKS.filter(({ isLive }) => !isLive);

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
  usage: `usage: onceonly doctor --template <file or folder> [options]
       onceonly doctor --stack <name> [options]
       onceonly doctor --table <name> --function <name> [--queue <URL>] [--alarm <name>] [options]
       onceonly doctor --endpoint <AWS address printed by \`onceonly start\`> [options]

Checks a stack against the checklist in docs/operate/go-live.md, and prints each fault with its fix. --template applies the
synthesis rules to templates and sends no requests. It exits with 1 if there are faults; open checklist items, such as a missing
alarm, count only with --strict. The other forms check a deployed stack against the whole checklist. They only read, report
what they couldn't check, and exit with 1 for that too. None of them sees what your code does.

  --template <file or folder> a CloudFormation or SAM template in JSON or YAML, or a cdk.out with all of its stacks. May be
                              repeated; all of them count as one app
  --strict                    exit with 1 for open checklist items too
  --stack <name or ARN>       a deployed CloudFormation stack, with its nested stacks
  --table <name or ARN>       a table that stores records
  --function <name or ARN>    a function that runs operations or sends committed messages
  --queue <URL>               a queue
  --alarm <name>              an alarm; a trailing * matches every alarm with that prefix
                              (each of these five may be repeated and combined)
  --endpoint <url>            a run of \`onceonly start\`; or, with --stack or --table, the AWS endpoint to use
  --region, --profile         as for the AWS CLI (default: from the environment)
  --max-requests <number>     stop after this many requests, and list what wasn't checked (default ${DEFAULT_REQUESTS})
  --json                      print a JSON object per fault, per unchecked item, and at the end`,
  forms: [
    {
      name: "a template",
      is: ({ values }) => values.template !== undefined,
      options: {
        template: { type: "string", multiple: true },
        strict: { type: "boolean" },
        json: OPTIONS.json,
      },
      run: diagnoseTemplates,
    },
    {
      name: "a deployed stack",
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
    throw new UsageError("--alarm needs --stack, --table or --function too");
  const most = wholeNumber(values, "max-requests", 1);
  return report(call, await (await import("./doctor/live/stack.ts")).lookAtLive(values, named, most));
}

async function diagnoseRun(call: CommandCall): Promise<0 | 1> {
  const { values } = call;
  noArgument(call.positionals, "doctor");
  if (values.endpoint === undefined)
    throw new UsageError("nothing to check: pass --template, --stack, --table or --endpoint");
  const most = wholeNumber(values, "max-requests", 1);
  const endpoint = `${endpointIn(values)}`;
  return report(call, await (await import("./doctor/live/run.ts")).lookAtRun(values, endpoint, most));
}

async function diagnoseTemplates(call: CommandCall): Promise<0 | 1> {
  const { values, terminal } = call;
  noArgument(call.positionals, "doctor");
  const stacks = await readStacks(listOf(values.template));
  const template = mergeTemplates(stacks);
  const stack = new DiagnosedStack(template);
  const { findings, isOurs } = findByRules(new TemplateApp(template));
  if (!isOurs && findings.length === 0) {
    const files = stacks.map(({ file }) => basename(file)).join(", ");
    throw new UsageError(
      `no function in ${files} has the variable IDEMPOTENCY_TABLE. Is this the right template? Pass all templates of the app, or the cdk.out folder`,
    );
  }
  const counts: Counts = { faults: 0, advice: 0 };
  for (const { severity, rule, resource, text } of findings) {
    if (severity === "noted") reportNote(call, rule, resource, text);
    else {
      counts.faults += 1;
      if (values.json) terminal.print(JSON.stringify({ kind: "fault", check: rule, resource, what: text }));
      else terminal.print(`${rule}: ${text}`, "bad");
    }
  }
  const reported = reportFaults(call, stack, TEMPLATE_CHECKS);
  for (const line of leftOutOf(stacks)) reportNote(call, "left-out", line.file, line.what);
  return conclude(call, { faults: counts.faults + reported.faults, advice: reported.advice });
}

interface Counts {
  faults: number;
  advice: number;
}

/** What can't be checked is reported, and isn't a fault: the synthesis passes too. */
function reportNote({ values, terminal }: CommandCall, check: string, resource: string, what: string): void {
  terminal.print(
    values.json ? JSON.stringify({ kind: "note", check, resource, what }) : `note: ${check}: ${what}`,
  );
}

const leftOutOf = (stacks: readonly ReadStack[]) =>
  stacks.flatMap(({ file, leftOut }) =>
    leftOut.map((line) => ({ file: basename(file), what: `not checked: ${line}` })),
  );

/** Advice fails the command only if it was asked to be strict. */
function conclude({ values, terminal }: CommandCall, { faults, advice }: Counts): 0 | 1 {
  if (!values.json) {
    const but = advice === 0 ? "" : `, ${counted(advice, "open checklist item")}`;
    const found = faults === 0 ? "no faults found" : counted(faults, "fault");
    terminal.print(`${found}${but}`, faults === 0 ? "good" : "bad");
  }
  return faults === 0 && (advice === 0 || !values.strict) ? 0 : 1;
}

/** Prints each fault and each advice. Returns their counts, and which checks had to do without something. */
function reportFaults(
  { values, terminal }: Pick<CommandCall, "values" | "terminal">,
  stack: DiagnosedStack,
  checks: readonly DoctorCheck[],
) {
  const counts: Counts = { faults: 0, advice: 0 };
  const unseen = new Map<Unseen, string[]>();
  for (const check of checks) {
    const { id, remedy } = check;
    const examined = stack.examine(check);
    for (const each of examined.unseen) unseen.set(each, [...(unseen.get(each) ?? []), id]);
    for (const { id: resource, what, isAdvice: only = check.isAdvice } of examined.complaints) {
      // What lives is held against the whole checklist.
      const isAdvice = only === true && !stack.isLive;
      counts[isAdvice ? "advice" : "faults"] += 1;
      const kind = isAdvice ? "advice" : "fault";
      if (values.json) terminal.print(JSON.stringify({ kind, check: id, resource, what, remedy }));
      else {
        const said = `${id}: ${resource === undefined ? what : `${resource} ${what}`}`;
        terminal.print(isAdvice ? `checklist: ${said}` : said, isAdvice ? undefined : "bad");
        terminal.print(`  ${remedy}`, "faint");
      }
    }
  }
  return { ...counts, unseen };
}

function report({ values, terminal }: CommandCall, { stack, requests, seen }: Looked): 0 | 1 {
  const { faults, unseen } = reportFaults({ values, terminal }, stack, ALL_CHECKS);
  for (const [{ what, why, remedy, isNowhere = false }, checks] of unseen) {
    if (values.json) terminal.print(JSON.stringify({ unseen: what, why, remedy, checks, isNowhere }));
    else {
      terminal.print(`not checked: ${what}, ${why} (${shortened(checks)})`);
      terminal.print(`  ${remedy}`);
    }
  }
  const blind = [...unseen.keys()].filter(({ isNowhere }) => !isNowhere).length;
  if (values.json) terminal.print(JSON.stringify({ faults, notLookedAt: blind, seen, requests }));
  else {
    const whole = ALL_CHECKS.length - new Set([...unseen.values()].flat()).size;
    const found =
      faults === 0 ? `no faults found in ${whole} of ${ALL_CHECKS.length} checks` : counted(faults, "fault");
    const but = blind === 0 ? "" : `, and ${blind} could not be checked`;
    const text = `${found}${but}; read ${seen} in ${counted(requests, "request")}`;
    terminal.print(text, faults + blind === 0 ? "good" : "bad");
  }
  return faults + blind === 0 ? 0 : 1;
}

const MOST_NAMES = 6;

const shortened = (checks: readonly string[]): string =>
  checks.length > MOST_NAMES ? `${checks.length} checks` : checks.join(", ");
