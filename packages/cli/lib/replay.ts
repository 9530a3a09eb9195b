/** `onceonly replay`: finds the crash that left a record, by crashing the handler at each of its requests on this machine. */
import { readFile } from "node:fs/promises";
import { namesOf } from "onceonly/kit";
import type { CrashPoint, ExploreOptions, LambdaHandler, RecordShape } from "onceonly-explorer";
import { type CliCommand, type CommandCall, type OptionsConfig, required, UsageError } from "./command.ts";
import { defaultExport } from "./default-export.ts";
import { loadTool } from "./installed.ts";
import { KEY_OPTIONS, KEY_USAGE, recordKeyIn } from "./named-key.ts";
import { describeRecord } from "./record-lines.ts";
import { openTable, TABLE_OPTIONS, TABLE_USAGE } from "./table.ts";
import { whyUnreadable } from "./unreadable.ts";

/** What the module exports by default: as the arguments of `explore`. */
interface Replayed {
  readonly handler: LambdaHandler;
  readonly event: unknown;
  readonly options?: ExploreOptions;
}

const OPTIONS = {
  operation: KEY_OPTIONS.operation,
  handler: { type: "string" },
  json: TABLE_OPTIONS.json,
} as const satisfies OptionsConfig;

export const replay: CliCommand = {
  usage: `usage: onceonly replay <key> --handler <module> [options]

Reads the record of a key, then crashes your handler in the simulator at each of its requests, to find the crashes that leave
a record like it. Prints those crashes, and the run up to the first one. You supply the event: no payload is read.

  --handler <module>          its default export is { handler, event, options }, the arguments of explore (required)
  --record <file>             output of \`onceonly find --json\`, instead of the key and the table${KEY_USAGE}${TABLE_USAGE}`,
  forms: [
    {
      name: "a record file",
      is: ({ values }) => values.record !== undefined,
      options: { ...OPTIONS, record: { type: "string" } },
      run: (input) => replaying(input, recordOfFile),
    },
    {
      name: "a key",
      options: { ...TABLE_OPTIONS, ...KEY_OPTIONS, ...OPTIONS },
      run: (input) => replaying(input, recordOfKey),
    },
  ],
};

async function replaying(
  call: CommandCall,
  recordOf: (call: CommandCall) => Promise<RecordShape>,
): Promise<0 | 1> {
  const { values, terminal } = call;
  const operation = operationIn(call);
  const { handler, event, options } = await replayedBy(required(values, "handler"));
  const record = await recordOf(call);
  const { crashPoints } = await loadTool("replay", "onceonly-explorer");
  const { points, crashes } = await crashPoints(handler, event, { ...options, operation });
  const alike = crashes.filter((crash) => isAlike(crash, record));
  if (values.json) terminal.print(JSON.stringify({ record, points, crashes: alike }));
  else for (const line of linesOf(record, alike, crashes.length)) terminal.print(line);
  return alike.length > 0 ? 0 : 1;
}

/** A record key names its operation. @throws UsageError */
function operationIn({ values, positionals }: CommandCall): string {
  if (values.operation !== undefined || values.record !== undefined) return required(values, "operation");
  return namesOf(recordKeyIn({ values, positionals })).operation;
}

/** @throws UsageError where the module exports something else */
async function replayedBy(module: string): Promise<Replayed> {
  const exported = (await defaultExport(module, "the handler module")) as Replayed | undefined;
  if (typeof exported?.handler === "function" && "event" in exported) return exported;
  throw new UsageError(
    `${module} must export { handler, event, options } as its default export (the arguments of explore)`,
  );
}

async function recordOfFile({ values, positionals }: CommandCall): Promise<RecordShape> {
  if (positionals.length > 0) throw new UsageError("pass a key or --record, not both");
  return shapeIn(
    await readFile(`${values.record}`, "utf8").catch((error) => notReadable(`${values.record}`, error)),
  );
}

async function recordOfKey({ values, positionals }: CommandCall): Promise<RecordShape> {
  const recordKey = recordKeyIn({ values, positionals });
  const table = await openTable(values);
  try {
    const record = await table.store.find(recordKey, { consistent: true });
    return shapeOf(record ? describeRecord(recordKey, record, undefined) : { state: "absent" });
  } finally {
    table.close();
  }
}

/** The part of what `find --json` prints that a crash decides. */
interface FoundRecord {
  readonly state: string;
  readonly steps?: readonly { readonly name: string; readonly state: string }[];
}

function shapeOf({ state, steps = [] }: FoundRecord): RecordShape {
  return { state, steps: Object.fromEntries(steps.map((step) => [step.name, step.state])) };
}

function notReadable(file: string, error: NodeJS.ErrnoException): never {
  throw new UsageError(`can't read the record file ${file}: ${whyUnreadable(error)}`);
}

/** @throws UsageError for a text that `find --json` does not print */
function shapeIn(text: string): RecordShape {
  try {
    const found = JSON.parse(text) as FoundRecord;
    if (typeof found.state === "string") return shapeOf(found);
  } catch {
    // The text may hold a payload, so the parser's error, which repeats some of it, is not passed on.
  }
  throw new UsageError("--record must be a file with the output of `onceonly find --json`");
}

/** A held record was abandoned until a caller arrived that may not run it. */
function isAlike(crash: CrashPoint, record: RecordShape): boolean {
  const state = record.state === "held" ? "in-progress" : record.state;
  const stepsOf = ({ steps }: RecordShape) => JSON.stringify(Object.entries(steps).sort());
  return crash.state === state && stepsOf(crash) === stepsOf(record);
}

function linesOf(record: RecordShape, alike: readonly CrashPoint[], tried: number): string[] {
  const steps = Object.entries(record.steps)
    .sort()
    .map(([name, state]) => `, step ${name} ${state}`);
  const heading = `the record is ${record.state}${steps.join("")}`;
  const [first] = alike;
  if (first === undefined) {
    return [
      heading,
      `none of ${tried} crashes leaves such a record: the handler didn't crash, was a different version, or received a different event`,
    ];
  }
  return [
    heading,
    ...alike.map(({ words, id }) => `${words} leaves such a record: only: ${JSON.stringify(id)}`),
    "",
    ...first.trace.split("\n"),
  ];
}
