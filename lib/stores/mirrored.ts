/** A store in front of two others, for the time of a move from one to the other. */
import { type Clock, systemClock } from "../core/clock.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { checkOptions, methods, oneOf } from "../core/option-checks.ts";
import { ENGINE_CHECKS, withDefaults } from "../core/options.ts";
import type { Store } from "../core/store.ts";
import { MirroredStore } from "./mirrored-store.ts";
import type { Side } from "./pair.ts";

export interface MirroredOptions {
  /**
   * The store whose commits decide, and which has the writes and the messages of a commit. `"from"` beside instances that
   * know `from` only, `"to"` beside instances that know `to` only.
   * @default "from"
   */
  readonly commitsIn?: Side;
  /** The handlers' own. @default - the system's clock */
  readonly clock?: Clock;
}

/**
 * One store made of two, while records move from one to the other: between databases, tables or accounts. It reads from both,
 * claims in both, `from` first, and finishes in both. Deploy it in stages, one after the other: `from` alone,
 * `mirrored(from, to)`, `mirrored(from, to, { commitsIn: "to" })`, `to` alone. Instances of neighbouring stages may run
 * at once. Before the last stage `leftBehind` must find nothing.
 *
 * A claim needs both stores: while one is down it throws StoreUnavailableError. A commit needs the store of `commitsIn` only.
 * Steps, and `whenAbandoned` other than `"run"`, need two stores that have them. A PostgresTransactions can be the store of
 * `commitsIn` only. In the other place take a PostgresStore on its table.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function mirrored<Write>(
  from: Store<Write>,
  to: Store<never>,
  options?: MirroredOptions & { readonly commitsIn?: "from" },
): Store<Write>;
export function mirrored<Write>(
  from: Store<never>,
  to: Store<Write>,
  options: MirroredOptions & { readonly commitsIn: "to" },
): Store<Write>;
export function mirrored(from: Store, to: Store, options: MirroredOptions = {}): Store {
  checkOptions({ from, to }, { from: ENGINE_CHECKS.store, to: ENGINE_CHECKS.store }, ["from", "to"]);
  if (from === to) throw new InvalidOptionError("to", "must be another store than `from`", to);
  checkOptions(options, { commitsIn: oneOf("from", "to"), clock: methods("now", "sleep") }, []);
  const { commitsIn, clock } = withDefaults(options, { commitsIn: "from" as Side, clock: systemClock });
  const follower = commitsIn === "from" ? "to" : "from";
  // What a handler wrote there could be rolled back after the commit that decides.
  if ({ from, to }[follower].handlerOver)
    throw new InvalidOptionError(
      follower,
      `must not run handlers in its transaction, as \`commitsIn\` is "${commitsIn}": give a PostgresStore on the same table`,
      undefined,
    );
  return new MirroredStore({ from, to }, commitsIn, clock);
}
