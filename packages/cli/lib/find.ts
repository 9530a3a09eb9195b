/** `onceonly find`: what the record of one key says. One read, or two with its messages. */
import { identify, NOT_KEPT, PUBLIC_SCOPE, type Store, type StoredResult } from "onceonly/kit";
import { type CliCommand, type OptionsConfig, type OptionValues, onlyArgument, required } from "./command.ts";
import { recordLines, tellRecord } from "./record-lines.ts";
import { openTable, TABLE_OPTIONS, TABLE_USAGE } from "./table.ts";

/** Names one key, as its handler does. */
export const KEY_OPTIONS = {
  operation: { type: "string", short: "o" },
  scope: { type: "string", short: "s" },
} as const satisfies OptionsConfig;

export const KEY_USAGE = `
  --operation, -o <name>      the \`operation\` of the handler (required)
  --scope, -s <owner>         the key's owner (default: none, for operations without a scope)`;

export const find: CliCommand = {
  usage: `usage: onceonly find <idempotency key> [options]

Prints the record of a key: state, attempts, steps, the last verdict, unsent messages. The key is hashed locally and looked up
with one request. The exit status is 1 if there's no record.
${KEY_USAGE}
  --show-result               also print the stored result, which is a payload${TABLE_USAGE}`,
  options: { ...TABLE_OPTIONS, ...KEY_OPTIONS, "show-result": { type: "boolean" } },
  async run({ values, positionals, terminal }) {
    const key = onlyArgument(positionals, "idempotency key");
    const { recordKey } = identify(required(values, "operation"), `${values.scope ?? PUBLIC_SCOPE}`, key);
    const table = await openTable(values);
    try {
      const record = await table.store.find(recordKey, { consistent: true });
      if (!record) {
        terminal.print(values.json ? JSON.stringify({ recordKey, state: "absent" }) : noRecord(values));
        return 1;
      }
      const hasEnded = record.state === "completed" || record.state === "failed";
      const unsent = hasEnded ? await table.outbox.load(recordKey) : undefined;
      const told = tellRecord(recordKey, record, unsent);
      const result = values["show-result"] ? await textOf(record.result, table.store) : undefined;
      if (values.json)
        terminal.print(JSON.stringify({ ...told, ...(result !== undefined && { value: result }) }));
      else {
        for (const line of recordLines(told, terminal.clock.now())) terminal.print(line);
        if (result !== undefined) terminal.print(result);
      }
      return 0;
    } finally {
      table.close();
    }
  },
};

/** Why there is no record of a key. Without --scope, another scope is the likely reason. */
export function noRecord({ scope }: OptionValues): string {
  return scope === undefined
    ? "no record: nothing ran under this operation and key without a scope, or its retention has ended. If the operation has a `scope`, pass the key's owner with --scope"
    : "no record: nothing ran under this operation, scope and key, or its retention has ended";
}

/** The text of a stored result, wherever it is; `undefined` where none is kept. */
export async function textOf(result: StoredResult | undefined, store: Store): Promise<string | undefined> {
  const text =
    result?.in === "item" ? await store.loadResult(result.address) : result?.in === "record" && result.text;
  return text === false || text === NOT_KEPT ? undefined : text;
}
