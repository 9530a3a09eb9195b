/** A store in front of two others, while records move from one to the other. */
import { type Clock, systemClock } from "../core/clock.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { checkOptions, methods, oneOf } from "../core/option-checks.ts";
import { ENGINE_CHECKS } from "../core/options.ts";
import type { Store } from "../core/store.ts";
import { withDefaults } from "../core/with-defaults.ts";
import { MigratingStore } from "./migrating-store.ts";
import type { Side } from "./pair.ts";

export interface MigratingOptions {
  /**
   * The store whose commits decide, and which gets the writes and messages of a commit. Use `"from"` while other instances know
   * only `from`, and `"to"` while other instances know only `to`.
   * @default "from"
   */
  readonly commitsIn?: Side;
  /** The same clock as the handlers'. @default - the system's clock */
  readonly clock?: Clock;
}

/**
 * Combines two stores while records move from one to the other: between databases, tables or accounts. It reads from both,
 * claims in both, `from` first, and finishes in both. Deploy it in stages, one after the other: `from` only, `migrating(from,
 * to)`, `migrating(from, to, { commitsIn: "to" })`, `to` only. Instances of neighbouring stages may run at the same time. Before
 * the last stage, `unmigratedRecords` must find nothing.
 *
 * A claim needs both stores: while one is down, it throws StoreUnavailableError. A commit only needs the store of `commitsIn`.
 * Steps, and `whenAbandoned` other than `"run"`, need two stores that support them. A PostgresTransactions can only be the store
 * of `commitsIn`. For the other one, use a PostgresStore on its table.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function migrating<Write>(
  from: Store<Write>,
  to: Store<never>,
  options?: MigratingOptions & { readonly commitsIn?: "from" },
): Store<Write>;
export function migrating<Write>(
  from: Store<never>,
  to: Store<Write>,
  options: MigratingOptions & { readonly commitsIn: "to" },
): Store<Write>;
export function migrating(from: Store, to: Store, options: MigratingOptions = {}): Store {
  checkOptions({ from, to }, { from: ENGINE_CHECKS.store, to: ENGINE_CHECKS.store }, ["from", "to"]);
  if (from === to) throw new InvalidOptionError("to", "must be a different store than `from`", to);
  checkOptions(options, { commitsIn: oneOf("from", "to"), clock: methods("now", "sleep") }, []);
  const { commitsIn, clock } = withDefaults(options, { commitsIn: "from" as Side, clock: systemClock });
  const follower = commitsIn === "from" ? "to" : "from";
  // The handler's writes there could be rolled back after the commit that decides.
  if ({ from, to }[follower].handlerOver)
    throw new InvalidOptionError(
      follower,
      `must not run handlers in its transaction (\`commitsIn\` is "${commitsIn}"): use a PostgresStore on the same table`,
      undefined,
    );
  return new MigratingStore({ from, to }, commitsIn, clock);
}
