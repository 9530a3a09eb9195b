/** `onceonly doctor`: a synthesized stack against the checklist for going live. No request. */
import { readFile } from "node:fs/promises";
import { type CliCommand, UsageError } from "./command.ts";
import { DiagnosedStack, type DoctorCheck } from "./diagnosed-stack.ts";
import { ALARM_CHECKS } from "./doctor-alarm-checks.ts";
import { QUEUE_CHECKS } from "./doctor-queue-checks.ts";
import { TABLE_CHECKS } from "./doctor-table-checks.ts";

export const DOCTOR_CHECKS: readonly DoctorCheck[] = [...TABLE_CHECKS, ...QUEUE_CHECKS, ...ALARM_CHECKS];

export const doctor: CliCommand = {
  usage: `usage: onceonly doctor --template <file> [options]

Holds a synthesized stack against the checklist of docs/operate/checklist.md, and prints each fault with its remedy. Reads the
template alone: what an app imports, and what code does, it does not see. The exit status is 1 where it finds a fault.

  --template <file>           such as cdk.out/Shop.template.json, may be repeated
  --json                      print a JSON object for each fault`,
  options: { template: { type: "string", multiple: true }, json: { type: "boolean" } },
  async run({ values, positionals, terminal }) {
    const files = Array.isArray(values.template) ? values.template : [];
    if (files.length === 0) throw new UsageError("--template is required");
    if (positionals.length > 0)
      throw new UsageError(`doctor takes --template, got ${positionals.length} arguments`);
    const stacks = await Promise.all(files.map(async (file) => ({ file, stack: await readStack(file) })));
    let faults = 0;
    for (const { file, stack } of stacks) {
      if (stack.handlers.length === 0)
        throw new UsageError(`no function in ${file} has IDEMPOTENCY_TABLE: is this the right template?`);
      for (const { id: check, remedy, find } of DOCTOR_CHECKS) {
        for (const { id: resource, what } of find(stack)) {
          faults += 1;
          if (values.json) terminal.print(JSON.stringify({ check, resource, what, remedy, template: file }));
          else
            terminal.print(`${check}: ${resource === undefined ? what : `${resource} ${what}`}\n  ${remedy}`);
        }
      }
    }
    if (!values.json)
      terminal.print(faults === 0 ? `no fault found by ${DOCTOR_CHECKS.length} checks` : `${faults} faults`);
    return faults === 0 ? 0 : 1;
  },
};

async function readStack(file: string): Promise<DiagnosedStack> {
  try {
    return new DiagnosedStack(Object(JSON.parse(await readFile(file, "utf8"))));
  } catch (error) {
    throw new UsageError(`cannot read the template ${file}: ${(error as Error).name}`);
  }
}
