/** The store of a module, for databases that no option of the command line reaches. */
import { ending, OperatedOutbox, type Store } from "onceonly/kit";
import { type OptionValues, UsageError } from "./command.ts";
import { defaultExport } from "./default-export.ts";
import type { OpenTable } from "./open-table.ts";

interface StoreModule {
  readonly store: Store<never>;
  readonly outbox?: OperatedOutbox;
  close?(): unknown;
}

const TABLE_ONLY = [
  "region",
  "profile",
  "endpoint",
  "partition-key",
  "sort-key",
  "ttl-attribute",
  "index",
  "shards",
  "bucket",
  "bucket-prefix",
];

/** @throws UsageError where the module has no store, or an option is for a table */
export async function openStore(module: string, values: OptionValues): Promise<OpenTable> {
  for (const name of ["table", ...TABLE_ONLY])
    if (values[name] !== undefined)
      throw new UsageError(`--${name} can't be combined with --store: the module connects to the store`);
  const { store, outbox, close } = await storeModule(module);
  const withheld: { operation: string; input: unknown }[] = [];
  const isDry = values["dry-run"] === true;
  const seen = outbox ?? new NoOutbox();
  // The module's client may have no timeouts, and a person waits for the command.
  const opened = ending(isDry ? withholding(store, STORE_WRITES, withheld) : store);
  return {
    store: opened,
    records: opened,
    outbox: ending(isDry ? withholding(seen, OUTBOX_WRITES, withheld) : seen),
    get storeOptions(): never {
      throw new UsageError(
        "a scan only reads DynamoDB tables: pass --table, or query the store's own database",
      );
    },
    withheld,
    close: () => void close?.(),
  };
}

async function storeModule(module: string): Promise<StoreModule> {
  const exported: unknown = await defaultExport(module, "the store module");
  const { store, outbox } = Object(exported) as { readonly store?: unknown; readonly outbox?: unknown };
  const has = (value: unknown, ...names: string[]) =>
    names.every((name) => typeof Object(value)[name] === "function");
  if (
    has(store, "find", "claim", "settle", "insert") &&
    (outbox === undefined || has(outbox, "load", "list", "drop"))
  )
    return exported as StoreModule;
  throw new UsageError(
    `${module} doesn't export a store by default: it needs export default { store, outbox, close } (only \`store\` is required)`,
  );
}

const STORE_WRITES = /^(claim|settle|insert|renew|writeStep|erase)$/;
const OUTBOX_WRITES = /^(sendAgain|redirect|drop)$/;

/** Answers to each write as if it were done. */
const DONE = { won: true, settled: true, renewed: true, erased: true };

/** Has no methods that bypass the store's moves. */
function withholding<Target extends object>(
  target: Target,
  writes: RegExp,
  withheld: { operation: string; input: unknown }[],
): Target {
  return new Proxy(target, {
    get(_, name) {
      const value: unknown = name === "over" ? undefined : Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (!writes.test(String(name))) return value.bind(target);
      return async (...given: readonly unknown[]) => {
        withheld.push({ operation: String(name), input: inputOf(String(name), given) });
        return writes === OUTBOX_WRITES ? true : DONE;
      };
    },
  });
}

/** Without the commit of an act, whose messages have bodies, and without clocks. */
function inputOf(name: string, [input, options]: readonly unknown[]): unknown {
  const { recordKey } = Object(input);
  if (name === "erase") return recordKey;
  return OUTBOX_WRITES.test(name) ? { recordKey, ...Object(options), clock: undefined } : input;
}

/** The outbox of a store that has none. */
class NoOutbox extends OperatedOutbox {
  readonly shards = 0;
  async load(): Promise<undefined> {}
  async *findUnsent(): AsyncGenerator<never> {}
  protected async decide(): Promise<boolean> {
    return false;
  }
  // biome-ignore lint/correctness/useYield: it shows that there's nothing to list
  override async *list(): AsyncGenerator<never> {
    throw new UsageError("the module doesn't export an outbox: it needs export default { store, outbox }");
  }
}
