/** Plans a fork: whether a record can be forked, from which steps, and what is copied. Pure. */
import { STOPPED, TURNED_BACK } from "../contract.ts";
import { InvalidOptionError } from "./errors.ts";
import {
  classify,
  type IdempotencyRecord,
  openStepsOf,
  type StoredStep,
  type StoredSteps,
} from "./record.ts";

/**
 * Which steps a fork copies, and which recorded ones run again. Of the latter, those in `started` were started, but not
 * recorded: they may have happened.
 */
export interface ForkPlan {
  readonly copied: readonly string[];
  readonly again: readonly string[];
  readonly started: readonly string[];
}

/** The steps from which a record can be forked, in the order in which they ended. */
export function forkableSteps({ steps = {} }: Pick<IdempotencyRecord, "steps">): readonly string[] {
  const own = inOrder(steps);
  // A saga records with each step which one comes next.
  const next = Object.values(steps).flatMap((step) => step.next ?? []);
  return [...new Set([...own, ...next])];
}

const isMark = (name: string, mark: string) => name.endsWith(`/${mark}`);

function inOrder(steps: StoredSteps): readonly string[] {
  const at = ([, one]: [string, StoredStep], [, other]: [string, StoredStep]) =>
    one.attempt - other.attempt || one.at - other.at;
  return Object.entries(steps)
    .filter(([name]) => !isMark(name, STOPPED))
    .sort(at)
    .map(([name]) => name);
}

/**
 * Why a record can't be forked from any step. `in-progress`: an attempt runs. `waiting`: messages of its commit aren't sent yet.
 * `undone`: its saga has turned back. `stepless`: it has no steps. `unclear`: the outcome of a step is unknown.
 */
type ForkRefusal = "in-progress" | "waiting" | "undone" | "stepless" | "unclear";

/** `undefined` for a record that can be forked. */
export function whyNotForkable(record: IdempotencyRecord, now: number): ForkRefusal | undefined {
  const status = classify(record, { token: "", fingerprints: [record.fingerprint], now });
  if (status === "in-progress") return status;
  const isOver = status === "completed" || status === "failed";
  // Its messages are sent, however late: until then the record doesn't expire.
  if (isOver && record.expiresAt === undefined) return "waiting";
  if (Object.keys(record.steps ?? {}).some((name) => isMark(name, TURNED_BACK))) return "undone";
  if (forkableSteps(record).length === 0) return "stepless";
  return unclearSteps(record).length > 0 ? "unclear" : undefined;
}

const unclearSteps = (record: Pick<IdempotencyRecord, "steps">): readonly string[] =>
  openStepsOf(record).filter((name) => !isMark(name, STOPPED));

/**
 * Steps that were done before `from` are copied; all others run again.
 * @throws InvalidOptionError (`INVALID_OPTION`) for a step that the record doesn't have, and if a step's outcome is unknown
 */
export function planFork(record: Pick<IdempotencyRecord, "steps">, from: string): ForkPlan {
  const known = forkableSteps(record);
  if (!known.includes(from)) {
    throw new InvalidOptionError(
      "from",
      known.length > 0
        ? `must be one of the recorded steps: ${known.join(", ")}`
        : "must be a recorded step, but this record has none: it never had one, or dropped them when it finished (set `keepSteps` on the handler to keep them), so use `rerun`",
    );
  }
  const open = unclearSteps(record);
  if (open.length > 0)
    throw new InvalidOptionError(
      "from",
      `needs a settled record: the outcome of ${open.join(", ")} is unknown`,
    );
  const steps = record.steps as StoredSteps;
  const own = inOrder(steps);
  const end = own.includes(from) ? own.indexOf(from) : own.length;
  const copied = own.slice(0, end).filter((name) => (steps[name] as StoredStep).state === "done");
  const again = known.filter((name) => !copied.includes(name));
  return { copied, again, started: again.filter((name) => steps[name] === undefined) };
}
