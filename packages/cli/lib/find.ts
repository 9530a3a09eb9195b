/** `onceonly find`: what the record of one key says. One read, or two with its messages. */
import { bucketOf, deriveChildKey, NOT_KEPT, type Store, type StoredResult } from "onceonly/kit";
import {
  type CliCommand,
  type OptionsConfig,
  type OptionValues,
  UsageError,
  wholeNumber,
} from "./command.ts";
import { KEY_OPTIONS, KEY_USAGE, noRecord, recordKeyIn } from "./named-key.ts";
import { describeRecord, pastResults, recordLines, toneOf } from "./record-lines.ts";
import { openTable, TABLE_OPTIONS, TABLE_USAGE } from "./table.ts";

const CHILD_OPTIONS = {
  child: { type: "string", multiple: true },
  "child-length": { type: "string" },
  "child-hex": { type: "boolean" },
} as const satisfies OptionsConfig;

export const find: CliCommand = {
  usage: `usage: onceonly find <idempotency key> --operation <name> [options]
       onceonly find <record key> [options]

Prints the record of a key: state, attempts, steps, decisions, unsent messages. An idempotency key is hashed locally, and the
record is looked up with one request. The exit status is 1 if there's no record.

  --show-result               also print the stored result, and the former one if a decision was corrected: both are payloads
  --child <name>              also print the key that the handler passes on as childKey("<name>"), may be repeated
                              (default: one for each step)
  --child-length <number>, --child-hex
                              the limits { maxLength, format: "hex" } that the handler passes to childKey
${KEY_USAGE}
${TABLE_USAGE}`,
  options: { ...TABLE_OPTIONS, ...KEY_OPTIONS, ...CHILD_OPTIONS, "show-result": { type: "boolean" } },
  async run({ values, positionals, terminal }) {
    const recordKey = recordKeyIn({ values, positionals });
    const childrenOf = childKeys(values, recordKey);
    const table = await openTable(values);
    try {
      const record = await table.store.find(recordKey, { consistent: true });
      if (!record) {
        const children = childrenOf(namedChildren(values) ?? []);
        if (values.json) terminal.print(JSON.stringify({ recordKey, state: "absent", ...children }));
        else {
          terminal.print(noRecord({ values, positionals }));
          for (const line of childLines(children)) terminal.print(line);
        }
        return 1;
      }
      const hasEnded = record.state === "completed" || record.state === "failed";
      const unsent = hasEnded ? await table.outbox.load(recordKey) : undefined;
      const report = describeRecord(recordKey, record, unsent);
      const children = childrenOf(namedChildren(values) ?? report.steps.map(({ name }) => name));
      const isShown = values["show-result"] === true;
      const result = isShown ? await textOf(record.result, table.store) : undefined;
      const former = isShown ? pastResults(record.evidence) : [];
      if (values.json) {
        const shown = {
          ...(result !== undefined && { value: result }),
          ...(former.length > 0 && { former }),
        };
        terminal.print(JSON.stringify({ ...report, ...children, ...shown }));
      } else {
        for (const [place, line] of recordLines(report, terminal.clock.now()).entries())
          terminal.print(line, place === 1 ? toneOf(report.state) : undefined);
        for (const line of childLines(children)) terminal.print(line);
        if (result !== undefined) terminal.print(result);
        else if (isShown && report.inBucket)
          terminal.print(`to print the result, pass --bucket ${report.inBucket.bucket}`);
        for (const each of former) terminal.print(`before the correction: ${each}`);
      }
      return 0;
    } finally {
      table.close();
    }
  },
};

const namedChildren = ({ child }: OptionValues) => child as readonly string[] | undefined;

interface ChildKeys {
  /** By the names that the handler gives them; absent if there are none. */
  readonly childKeys?: Readonly<Record<string, string>>;
}

const childLines = ({ childKeys = {} }: ChildKeys): readonly string[] =>
  Object.entries(childKeys).map(([name, key]) => `child key ${name}: ${key}`);

/** They follow from the record key, whether there is a record or not. @throws UsageError for limits that no child key can have */
function childKeys(values: OptionValues, recordKey: string): (names: readonly string[]) => ChildKeys {
  const limits = {
    ...(values["child-length"] !== undefined && { maxLength: wholeNumber(values, "child-length", 1) }),
    ...(values["child-hex"] === true && { format: "hex" as const }),
  };
  const childKeyOf = (name: string) => deriveChildKey({ recordKey }, name, limits);
  try {
    for (const name of namedChildren(values) ?? ["any"]) childKeyOf(name);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  return (names) =>
    names.length === 0
      ? {}
      : { childKeys: Object.fromEntries(names.map((name) => [name, childKeyOf(name)])) };
}

/** The stored result's text, wherever it's kept; `undefined` if there is none, or if it's in a bucket that wasn't given. */
export async function textOf(result: StoredResult | undefined, store: Store): Promise<string | undefined> {
  if (result?.in === "record" && bucketOf(result)) return undefined;
  const text =
    result?.in === "item" ? await store.loadResult(result.address) : result?.in === "record" && result.text;
  return text === false || text === NOT_KEPT ? undefined : text;
}
