/** A saga whose run is cut into parts, with something else between them, such as the days that a durable execution waits. */
import { otherCopies, shared } from "../core/copies.ts";
import { InvalidOptionError } from "../core/errors.ts";
import type { Execution } from "../core/execution.ts";
import type { Step } from "../core/steps.ts";

/** Decides where a run of a saga stops, and what surrounds its steps. */
export interface SagaDriver {
  /**
   * Before a step that isn't known to have begun: `"run"` it, `"pause"`, or turn back because of an error. `neverRan` says that no
   * attempt can have begun the step.
   */
  before(step: string): "run" | "pause" | { readonly error: unknown; readonly neverRan: boolean };
  /** Runs the work of a step or of a compensation. */
  around<T>(step: Pick<Step, "name" | "childKey">, work: () => T): T;
}

export const UNDRIVEN: SagaDriver = { before: () => "run", around: (_step, work) => work() };

/** The saga has paused. All that it has done is recorded, and another attempt goes on. */
export class SagaPaused extends Error {
  override readonly name = "SagaPaused";
  readonly before: string;

  constructor(before: string) {
    super(`paused before the step ${before}`);
    this.before = before;
  }
}

/** The inner side of a saga. */
export interface DrivenSaga {
  readonly name: string;
  readonly steps: readonly string[];
  run(execution: Execution<never>, input: unknown, driver: SagaDriver): Promise<Record<string, unknown>>;
}

const COPIES = "sagas";
const inner = shared(COPIES, () => new WeakMap<object, DrivenSaga>());

export function makeDrivable<Made extends object>(saga: Made, driven: DrivenSaga): Made {
  inner.set(saga, driven);
  return saga;
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function drivenSaga(saga: unknown): DrivenSaga {
  const driven = Object(saga) === saga ? inner.get(saga as object) : undefined;
  if (driven) return driven;
  throw new InvalidOptionError("saga", `must be made by \`saga()\` of onceonly${otherCopies(COPIES)}`, saga);
}
