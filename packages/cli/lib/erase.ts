/** `onceonly erase`: drops stored answers, and keeps the fact that the operations happened. */
import { readFile } from "node:fs/promises";
import { PUBLIC_SCOPE } from "onceonly/kit";
import { type CliCommand, type CommandCall, type OptionsConfig, required, UsageError } from "./command.ts";
import { eraseOne, eraseScoped } from "./erasing.ts";
import { changingGroup } from "./group.ts";
import { KEY_OPTIONS, KEY_USAGE, noRecord, operationOf, recordKeyIn, recordKeyOf } from "./named-key.ts";
import { mayScan, scopedKeys } from "./scan.ts";
import { BY_OPTIONS, BY_USAGE, byWhom, changing, WRITE_OPTIONS, WRITE_USAGE } from "./table.ts";
import { whyUnreadable } from "./unreadable.ts";

const OPTIONS = { ...WRITE_OPTIONS, ...BY_OPTIONS, ...KEY_OPTIONS } as const satisfies OptionsConfig;
const FILE_OPTIONS = { ...OPTIONS, "keys-from": { type: "string" } } as const satisfies OptionsConfig;
const SCAN_OPTIONS = { ...OPTIONS, scan: { type: "boolean" } } as const satisfies OptionsConfig;

export const erase: CliCommand = {
  usage: `usage: onceonly erase <key> [options]
       onceonly erase --keys-from <file> [options]
       onceonly erase --scan --scope <owner> [options]

Erases the stored answer of a completed or failed key, and the results of its steps. The record itself stays until its
retention ends, so nothing runs again under the key. A key in another state, or with unsent messages, is left as it is, and
the exit status is 1.

  --keys-from <file>          every key in the file, one per line; keys are hashed locally
  --scan                      every key of the owner, in one operation or in all: reads the whole table, after showing the
                              cost and asking. Also finds results that no record refers to${BY_USAGE}${KEY_USAGE}${WRITE_USAGE}`,
  forms: [
    { name: "a scan", is: ({ values }) => values.scan === true, options: SCAN_OPTIONS, run: eraseScope },
    {
      name: "a file of keys",
      is: ({ values }) => values["keys-from"] !== undefined,
      options: FILE_OPTIONS,
      run: eraseFile,
    },
    { name: "a key", options: OPTIONS, run: eraseKey },
  ],
};

async function eraseFile(input: CommandCall): Promise<0 | 1> {
  const { values, positionals, terminal } = input;
  checkAlone(positionals);
  const erasure = byWhom(values);
  const operation = required(values, "operation");
  const recordKeys = await keysIn(`${values["keys-from"]}`, (key) => recordKeyOf(values, key));
  return changingGroup(input, {
    keysOf: () => recordKeys,
    question: (count) => `${operation}: permanently erase the stored answers of ${count} keys?`,
    change: (table, recordKey) => eraseOne(table, recordKey, erasure, terminal),
  });
}

async function eraseKey(input: CommandCall): Promise<0 | 1> {
  const { values, terminal } = input;
  const erasure = byWhom(values);
  const recordKey = recordKeyIn(input);
  return changing(input, `${operationOf(recordKey)}: permanently erase the stored answer?`, (table) =>
    eraseOne(table, recordKey, erasure, terminal, noRecord(input)),
  );
}

/** @throws UsageError */
function checkAlone(positionals: readonly string[]): void {
  if (positionals.length > 0) throw new UsageError("pass only one of a key, --keys-from or --scan");
}

/** @throws UsageError where no owner is given */
async function eraseScope(input: CommandCall): Promise<0 | 1> {
  const { values, positionals, terminal } = input;
  checkAlone(positionals);
  const erasure = byWhom(values);
  const operation = values.operation === undefined ? undefined : `${values.operation}`;
  if (values.scope === undefined && operation === undefined)
    throw new UsageError("--scan needs --scope, --operation or both, to choose whose answers are erased");
  const scope = `${values.scope ?? PUBLIC_SCOPE}`;
  const about = operation ?? "all operations";
  const found = new Map<string, readonly string[]>();
  return changingGroup(input, {
    async *keysOf(table) {
      if (!(await mayScan(table, input))) return;
      const onRead = (items: number) => terminal.progress?.(items);
      for (const { recordKey, addresses } of await scopedKeys(table, { operation, scope }, onRead)) {
        found.set(recordKey, addresses);
        yield recordKey;
      }
    },
    question: (count) => `${about}: permanently erase the stored answers of ${count} keys of this owner?`,
    change: (table, recordKey) =>
      eraseScoped(table, { recordKey, addresses: found.get(recordKey) ?? [] }, erasure, terminal),
  });
}

/** All are checked before anything is read. @throws UsageError, IdempotencyKeyInvalidError */
async function keysIn(file: string, recordKeyOf: (key: string) => string): Promise<readonly string[]> {
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new UsageError(
      `can't read the keys file ${file}: ${whyUnreadable(error as NodeJS.ErrnoException)}`,
    );
  });
  const recordKeys = text.split(/\r?\n/).map((key, line) => {
    if (key === "") return undefined;
    try {
      return recordKeyOf(key);
    } catch (error) {
      throw new UsageError(`line ${line + 1}: ${(error as Error).message}`);
    }
  });
  return [...new Set(recordKeys.filter((recordKey) => recordKey !== undefined))];
}
