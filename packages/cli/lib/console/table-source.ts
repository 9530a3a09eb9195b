/** A console on one table, wherever it is: what the sparse indexes name, and any key that is asked for. No scan. */
import { type Clock, identify } from "onceonly/kit";
import { UsageError } from "../command.ts";
import type { OpenTable } from "../open-table.ts";
import type { ConsoleSource } from "./console-source.ts";
import { actOnGroup } from "./group-acts.ts";
import { actOnKey } from "./key-acts.ts";
import { lifeOf } from "./key-life.ts";
import { childKeyOf, knownKeys } from "./known-keys.ts";
import { lookAtLists } from "./table-records.ts";

export interface TableSourceOptions {
  readonly table: OpenTable;
  readonly name: string;
  readonly clock: Clock;
}

/** Each look is some 40 small queries: not every second. */
const REFRESH_MS = 10_000;

export function tableSource({ table, name, clock }: TableSourceOptions): ConsoleSource {
  const known = knownKeys();
  const remember = (recordKey: string) => known.remember(table, recordKey);
  return {
    async look() {
      const at = clock.now();
      const { rows, ...lists } = await lookAtLists(table, name, at, remember);
      return {
        title: `table ${name}`,
        at,
        refreshMs: REFRESH_MS,
        records: rows,
        areAllRecords: false,
        ...lists,
      };
    },
    async lifeOf(keyHash) {
      const recordKey = known.get(keyHash)?.recordKey;
      return recordKey === undefined ? undefined : lifeOf(table, recordKey, clock);
    },
    childKeyOf: (keyHash, name, limits) => childKeyOf(known, keyHash, name, limits),
    async find({ operation, scope, key }) {
      const { recordKey, keyHash } = identify(operation, scope, key);
      if (!(await table.store.find(recordKey, { consistent: true }))) return undefined;
      remember(recordKey);
      return keyHash;
    },
    async act(act) {
      const groups = async () => (await lookAtLists(table, name, clock.now(), remember)).groups;
      const answer =
        (await actOnKey(act, known, clock)) ??
        (act.group === undefined ? undefined : await actOnGroup(act, await groups(), known, clock));
      if (answer) return answer;
      throw new UsageError(`the action "${act.act}" isn't available on a table`);
    },
  };
}
