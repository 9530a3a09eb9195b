/** The request of the model's store that writes a step. packages/proof/model/stores.test.ts holds real stores to the same. */
import type { Model } from "./bounds.ts";
import type { Watch } from "./invariants.ts";
import { isSameMark, type Mark, type MarkName, type Marks, type StepWrite } from "./marks.ts";
import { NEVER, type Slot, type Token } from "./state.ts";

export type StoreAnswer = "done" | "refused" | "condition";

/** `store.writeStep`: the slot as it is then, and whether the step is written. */
export function writeStep(
  slot: Slot,
  { token, name, mark, seen }: StepWrite & { readonly token: Token; readonly name: MarkName },
  { without }: Model,
  watch: Watch,
): [Slot, StoreAnswer] {
  const { record, history } = slot;
  if (record?.state !== "in-progress") return [slot, "refused"];
  if (record.token !== token && without !== "stepToken") return [slot, "refused"];
  const there = record.marks[name];
  if (isSameMark(there, mark)) return [slot, "done"];
  const isStill = without === "stepStamp" ? there?.state === seen?.state : isSameMark(there, seen);
  if (!isStill && without !== "stepSeen") return [slot, "refused"];
  watch.expect(record.token === token, "tokenOnWrite");
  watch.expect(there?.state !== "done", "doneStays");
  watch.move("in-progress", "in-progress");
  const expiresIn = neverExpires({ mark }, without) ? NEVER : record.expiresIn;
  const marks = { ...record.marks, [name]: mark };
  const passed = mark.state === "done" ? withPassed(history.passed, name) : history.passed;
  const written = { ...record, marks, writes: record.writes + 1, expiresIn };
  return [{ ...slot, record: written, history: { ...history, passed } }, "done"];
}

export const withPassed = (passed: readonly MarkName[], name: MarkName): readonly MarkName[] =>
  passed.includes(name) ? passed : [...passed, name];

/** As `isTracked` in core. */
export const neverExpires = (marks: Marks | { readonly mark: Mark }, without: Model["without"]): boolean =>
  Object.values(marks).some(
    ({ state, tracked }) =>
      (state === "begun" && without !== "begunNeverExpires") ||
      (tracked && without !== "trackedNeverExpires"),
  );
