/** What a person should know about a key before deciding about it: its state, age and attempts. */
import type { OpenTable } from "./open-table.ts";
import { describeRecord, recordLines } from "./record-lines.ts";

/** The record as `find` prints it, then `more`. */
export const stateOf =
  (recordKey: string, ...more: readonly string[]) =>
  async ({ store }: OpenTable, now: number): Promise<readonly string[]> => {
    const record = await store.find(recordKey, { consistent: true });
    return record ? [...recordLines(describeRecord(recordKey, record, undefined), now), ...more] : [];
  };
