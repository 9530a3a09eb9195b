/** A console on one table, wherever it is: what the sparse indexes name, and any key that is asked for. A scan only for an erasure. */
import { type Clock, namesOf } from "onceonly/kit";
import { UsageError } from "../command.ts";
import type { OpenTable } from "../open-table.ts";
import type { ConsoleSource } from "./console-source.ts";
import { actOnGroup } from "./group-acts.ts";
import { actOnKey } from "./key-acts.ts";
import { keyQuestions, recordKeyIn } from "./key-questions.ts";
import { knownKeys } from "./known-keys.ts";
import { ownerErasure } from "./owner-erasure.ts";
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
  const erasure = ownerErasure(known, async () => [table], clock);
  return {
    ...keyQuestions(known, clock),
    owned: erasure.owned,
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
    async find(asked) {
      const recordKey = recordKeyIn(asked);
      const { keyHash } = namesOf(recordKey);
      remember(recordKey);
      const record = await table.store.find(recordKey, { consistent: true });
      return record ? { keyHash } : { keyHash, isAbsent: true };
    },
    async act(act) {
      const groups = async () => (await lookAtLists(table, name, clock.now(), remember)).groups;
      const answer =
        (await erasure.act(act)) ??
        (await actOnKey(act, known, clock)) ??
        (act.group === undefined ? undefined : await actOnGroup(act, await groups(), known, clock));
      if (answer) return answer;
      throw new UsageError(`the action "${act.act}" isn't available on a table`);
    },
  };
}
