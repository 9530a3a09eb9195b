/** `onceonly erase`: drops stored answers, and keeps the fact that the operations happened. */
import { readFile } from "node:fs/promises";
import { type EraseAnswer, type Erasure, eraseRecord, identify, PUBLIC_SCOPE } from "onceonly/kit";
import {
  type CliCommand,
  type CommandCall,
  type OptionsConfig,
  type OptionValues,
  onlyArgument,
  required,
  UsageError,
} from "./command.ts";
import { KEY_OPTIONS, KEY_USAGE } from "./find.ts";
import { changingGroup } from "./group.ts";
import type { OpenTable } from "./open-table.ts";
import { mayScan, scopedKeys } from "./scan.ts";
import { BY_OPTIONS, BY_USAGE, byWhom, type Changed, changing, WRITE_OPTIONS, WRITE_USAGE } from "./table.ts";

const OPTIONS = { ...WRITE_OPTIONS, ...BY_OPTIONS, ...KEY_OPTIONS } as const satisfies OptionsConfig;
const FILE_OPTIONS = { ...OPTIONS, "keys-from": { type: "string" } } as const satisfies OptionsConfig;
const SCAN_OPTIONS = { ...OPTIONS, scan: { type: "boolean" } } as const satisfies OptionsConfig;

export const erase: CliCommand = {
  usage: `usage: onceonly erase <idempotency key> [options]
       onceonly erase --keys-from <file> [options]
       onceonly erase --scan --scope <owner> [options]

Erases the stored answer of a key that is completed or has failed, and the results of its steps. The record stays until its
retention is over: nothing runs again under the key. A key in another state, or with messages that wait, stays as it is, and the
exit status is 1.

  --keys-from <file>          all keys of the file, one in each line, hashed here
  --scan                      all keys of the owner, of one operation or of all: reads the whole table, whose cost is shown
                              before and asked. It finds results too that no record names${BY_USAGE}${KEY_USAGE}${WRITE_USAGE}`,
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
    question: (count) => `${operation}: erase the stored answers of ${count} keys for good?`,
    change: async (table, recordKey) => changed(await eraseOne(table, recordKey, erasure, terminal)),
  });
}

async function eraseKey(input: CommandCall): Promise<0 | 1> {
  const { values, positionals, terminal } = input;
  const erasure = byWhom(values);
  const operation = required(values, "operation");
  const recordKey = recordKeyOf(values, onlyArgument(positionals, "idempotency key"));
  return changing(input, `${operation}: erase the stored answer for good?`, async (table) =>
    changed(await eraseOne(table, recordKey, erasure, terminal)),
  );
}

const recordKeyOf = (values: OptionValues, key: string): string =>
  identify(required(values, "operation"), `${values.scope ?? PUBLIC_SCOPE}`, key).recordKey;

/** @throws UsageError */
function checkAlone(positionals: readonly string[]): void {
  if (positionals.length > 0) throw new UsageError("give a key, --keys-from or --scan");
}

async function eraseOne(
  { store }: OpenTable,
  recordKey: string,
  erasure: Erasure,
  { clock }: CommandCall["terminal"],
): Promise<EraseAnswer> {
  const { eraseItemsOf } = await import("onceonly/kit");
  return eraseRecord({ store, clock, apart: eraseItemsOf }, recordKey, erasure);
}

/** @throws UsageError where no owner is given */
async function eraseScope(input: CommandCall): Promise<0 | 1> {
  const { values, positionals, terminal } = input;
  checkAlone(positionals);
  const erasure = byWhom(values);
  const operation = values.operation === undefined ? undefined : `${values.operation}`;
  if (values.scope === undefined && operation === undefined)
    throw new UsageError("--scan takes --scope, --operation or both: they say whose answers are erased");
  const scope = `${values.scope ?? PUBLIC_SCOPE}`;
  const about = operation ?? "all operations";
  const found = new Map<string, readonly string[]>();
  return changingGroup(input, {
    async *keysOf(table) {
      if (!(await mayScan(table, input))) return;
      for (const { recordKey, addresses } of await scopedKeys(table, { operation, scope })) {
        found.set(recordKey, addresses);
        yield recordKey;
      }
    },
    question: (count) => `${about}: erase the stored answers of ${count} keys of this owner for good?`,
    async change(table, recordKey) {
      const answer = await eraseOne(table, recordKey, erasure, terminal);
      const left = found.get(recordKey) ?? [];
      const isGone = !answer.erased && answer.state === "absent" && left.length > 0;
      if (!answer.erased && !isGone) return changed(answer);
      const { eraseItems, placeOf } = await import("onceonly/kit");
      const expiresAt = Math.ceil(terminal.clock.now() / 1000);
      const place = placeOf(table.store);
      if (place) await eraseItems(place, recordKey, left, { expiresAt });
      return changed({ erased: true });
    },
  });
}

/** All are checked before anything is read. @throws UsageError, IdempotencyKeyInvalidError */
async function keysIn(file: string, recordKeyOf: (key: string) => string): Promise<readonly string[]> {
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new UsageError(`the keys cannot be read: ${(error as NodeJS.ErrnoException).code ?? error.name}`);
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

function changed(answer: EraseAnswer): Changed {
  if (answer.erased) return { done: true, told: "erased", json: answer };
  const { state } = answer;
  return { done: false, told: `not erased: ${WHY_NOT[state] ?? `the key is ${state}`}`, json: answer };
}

const SETTLE_FIRST = "settle it first by resolve or release";

const WHY_NOT: Readonly<Record<string, string>> = {
  waiting: "messages of it wait to be sent: send or drop them first",
  "in-progress": `its attempt runs, or was abandoned: ${SETTLE_FIRST}`,
  held: `the key is held: ${SETTLE_FIRST}`,
  released: "a retry may run: it goes on from what is stored, which expires by itself",
};
