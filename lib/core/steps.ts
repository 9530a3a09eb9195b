/** The steps of one attempt: what is done is recorded under the claim, and skipped by the attempts that come after. */
import { asItIs, ask } from "./abandoned.ts";
import { type ChildKeyLimits, deriveChildKey } from "./child-key.ts";
import { hasCode } from "./error-code.ts";
import { OutcomeUnknownError, StepInvalidError } from "./errors.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import {
  aFunction,
  areStepNames,
  type Check,
  checkOptions,
  isStepName,
  oneOf,
  stepName,
} from "./option-checks.ts";
import { decodeResult, encodeResult, readResult } from "./outcome.ts";
import type { StoredStep } from "./record.ts";
import type { Recording } from "./recording.ts";
import type { WritesOf } from "./store.ts";
import { encodeEvidence, type Verify } from "./verify.ts";

export interface StepOptions {
  /**
   * Writes down that the step begins before it runs, by one more request. A step that was interrupted is never run again by
   * itself: `verify` is asked how it ended, and what nobody knows holds the key.
   * @default false: an interrupted step runs again, with the same child key
   */
  readonly atMostOnce?: boolean;
  /**
   * Asks whether an interrupted step had its effect; `happened` gives the result of the step. With `atMostOnce` alone.
   * @default - nobody is asked, and the key is held
   */
  readonly verify?: Verify<never>;
  /**
   * Whether an error proves that the step had no effect, such as a refused card: then the step may run again. With
   * `atMostOnce` alone.
   * @default - no error proves that
   */
  readonly didNotHappen?: (error: unknown) => boolean;
  /**
   * From this step on the operation is among the unknown outcomes until it ends. So somebody sees an attempt that has stopped
   * between two steps, although nobody calls again.
   * @default false, but with `atMostOnce`
   */
  readonly tracked?: boolean;
  /**
   * Former names of the step, the first of all first: what a deployment before this one finished under them counts. The child key of
   * the step stays that of the first.
   * @default - none
   */
  readonly formerly?: readonly string[];
  /** @internal The step of a saga that comes next, as its record names it. */
  readonly next?: string | undefined;
  /** @internal Whether the saga can undo this step, and the one in `next`. */
  readonly undo?: boolean | undefined;
  /** @internal */
  readonly undoNext?: boolean | undefined;
}

/** What the work of a step is given. */
export interface Step<Write = unknown> {
  readonly name: string;
  /** The number of this attempt at the operation: a fencing number to pass on. `undefined` in a run without a claim. */
  readonly attempt: number | undefined;
  /** As the execution's. */
  readonly signal: AbortSignal;
  /**
   * The key for the system that this step calls, the same in every attempt: `childKey(name)` of the execution. A step with former
   * names keeps the key of the first.
   * @throws InvalidOptionError (`INVALID_OPTION`) when the limits leave less than 128 bits.
   */
  childKey(limits?: ChildKeyLimits): string;
  /**
   * Records `result` as that of the step and applies `writes`, in one transaction: both, or neither. Messages go with the
   * commit of the execution. Resolves to the result of the step.
   * @throws TransactionConditionError (`TRANSACTION_CONDITION`), CommitInvalidError, ResponseNotStorableError: nothing is
   * written. ClaimLostError, StoreUnavailableError.
   */
  commit<T>(result: T, effects: { readonly writes: WritesOf<Write> }): Promise<T>;
}

/** A record with more costs more with each write of a step. */
const MAX_STEPS = 100;

const STEP_CHECKS: Readonly<Record<keyof StepOptions, Check>> = {
  atMostOnce: oneOf(true, false),
  verify: aFunction,
  didNotHappen: aFunction,
  tracked: oneOf(true, false),
  formerly: ["must be a list of the step's former names", areStepNames],
  next: stepName,
  undo: oneOf(true, false),
  undoNext: oneOf(true, false),
};

/** What a record keeps of the options of a step. */
const marksOf = ({ tracked, next, undo, undoNext }: StepOptions) => ({ tracked, next, undo, undoNext });

type StepWork<Write> = (step: Step<Write>) => unknown;

export class StepLog<Write> {
  readonly #call: OngoingCall<Write>;
  readonly #recording: Recording<Write>;
  readonly #signalOf: () => AbortSignal;
  /** What this attempt has asked for: a second step of the same name would get the result of the first. */
  readonly #asked = new Set<string>();
  readonly #underWay = new Map<string, Promise<unknown>>();
  /** The last write of a step that was begun. */
  #written: Promise<unknown> = Promise.resolve();
  /** The verdict about a step with an unknown end. */
  evidence: string | undefined;

  constructor(call: OngoingCall<Write>, recording: Recording<Write>, signalOf: () => AbortSignal) {
    this.#call = call;
    this.#recording = recording;
    this.#signalOf = signalOf;
  }

  /** The names of the steps that are running. */
  get underWay(): readonly string[] {
    return [...this.#underWay.keys()];
  }

  /**
   * Resolves when no step is running, or the time to wait for one is over.
   * @throws the error of a step that failed meanwhile: nobody may have waited for that step
   */
  async settled(): Promise<void> {
    const running = [...this.#underWay.values()];
    if (running.length === 0) return;
    const signal = this.#signalOf();
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    const all = Promise.allSettled(running).then(async () => void (await Promise.all(running)));
    await Promise.race([all, aborted]);
  }

  /** Checked at once, not in a promise: a handler that does not await a step must not go on with a wrong one. */
  run<T>(name: string, work: StepWork<Write>, options: StepOptions = {}): Promise<T> {
    this.#check(name, work, options);
    this.#asked.add(name);
    const running = this.#run(name, work, options).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, running);
    // Looked at once more where the attempt ends.
    running.catch(() => {});
    return running as Promise<T>;
  }

  #check(name: unknown, work: unknown, options: StepOptions): void {
    if (!isStepName(name)) throw new StepInvalidError(`the name of a step ${stepName[0]}`);
    if (typeof work !== "function") throw new StepInvalidError(`step \`${name}\` needs a function`);
    checkOptions(options, STEP_CHECKS, []);
    const { atMostOnce, verify, didNotHappen, tracked } = options;
    if (!atMostOnce && (verify || didNotHappen)) {
      throw new StepInvalidError(
        `step \`${name}\` has \`verify\` or \`didNotHappen\` without \`atMostOnce: true\`: it just runs again`,
      );
    }
    if (this.#asked.has(name as string)) {
      throw new StepInvalidError(
        `step \`${name}\` was asked for twice in one attempt: give each its own name`,
      );
    }
    const { store, mode, steps } = this.#call.options;
    if (steps && !steps.includes(name as string)) {
      throw new StepInvalidError(`step \`${name}\` is not in the option \`steps\`: name it there`);
    }
    if (mode === "optimistic") throw claimless(name as string, "mode");
    if (!store.writeStep || ((atMostOnce || tracked) && !store.unknownOutcomes)) {
      throw new StepInvalidError(
        `the store has no \`${store.writeStep ? "unknownOutcomes" : "writeStep"}\`: give the store that method`,
      );
    }
    if ((atMostOnce || tracked) && !this.#recording.isClaimed) throw claimless(name as string);
  }

  async #run(name: string, work: StepWork<Write>, options: StepOptions): Promise<unknown> {
    const { steps } = this.#recording;
    const { atMostOnce, didNotHappen, formerly = [] } = options;
    const marks = marksOf(options);
    const known = [name, ...formerly].find((each) => (steps[each]?.state ?? "undone") !== "undone") ?? "";
    const former = steps[known];
    const isDone = former && (former.state === "done" || (await this.#ask(known, former, options)));
    if (isDone) return decodeResult(await readResult(this.#recording.steps[known]?.result, this.#call));
    if (Object.keys(steps).length >= MAX_STEPS && !steps[name]) {
      throw new StepInvalidError(`an operation takes at most ${MAX_STEPS} steps: join some`);
    }
    const record = (value: unknown, writes?: readonly Write[]) => {
      const result = encodeResult(value, this.#call);
      return this.#write(name, { ...marks, state: "done", result }, writes).then(decodeResult);
    };
    const running = runningStep(name, formerly[0] ?? name, this.#call, this.#signalOf, record);
    if (atMostOnce) await this.#write(name, { ...marks, state: "begun" });
    try {
      const value = await work(running);
      running.isOver = true;
      return await (running.committed ?? record(value));
    } catch (error) {
      const isOfWork = !running.isOver;
      // Its commit counts, whatever the work throws, and no retry runs beside that.
      running.isOver = true;
      await running.committed?.catch(() => {});
      // It may be tried once more in the same attempt, as nothing of it is on record.
      if (!atMostOnce) this.#asked.delete(name);
      else if (isOfWork && !running.committed && didNotHappen?.(error) === true) {
        await this.#write(name, { state: "undone" });
        this.#asked.delete(name);
      }
      throw error;
    }
  }

  /**
   * Asks how an interrupted step ended: resolves to whether it happened.
   * @throws OutcomeUnknownError where nobody knows: the key is held
   */
  async #ask(name: string, former: StoredStep, options: StepOptions) {
    const { verify } = options;
    const call = this.#call;
    const { attempt, at } = former;
    const { startBy, formerEndedAt } = this.#recording;
    const about = { attempt, startedAt: at, leaseEndedAt: formerEndedAt };
    const { outcome, evidence, text, error } = verify
      ? await ask(call, { verify, option: "verify", about, startBy, toStored: asItIs })
      : { outcome: "unknown" as const };
    const by = verify ? "verify" : "step";
    const since = formerEndedAt;
    const verdict = { verdict: outcome, by, at: call.now(), attempt, step: name, since };
    const told = encodeEvidence({ ...evidence, ...verdict });
    if (outcome === "unknown") {
      this.evidence = told;
      throw call.own(new OutcomeUnknownError(error, error === undefined ? undefined : evidence?.answered));
    }
    this.#recording.evidence = told;
    const happened = outcome === "happened";
    await this.#write(name, {
      ...former,
      ...marksOf(options),
      state: happened ? "done" : "undone",
      result: text,
    });
    if (happened) call.tell("verified");
    return happened;
  }

  /** One after the other: all of them change the same item. */
  #write(
    name: string,
    change: Parameters<Recording<Write>["writeStep"]>[1],
    writes: readonly Write[] = [],
  ): Promise<string | undefined> {
    if (!this.#recording.isClaimed) return Promise.resolve(change.result);
    const write = this.#written.then(() => this.#recording.writeStep(name, change, writes));
    this.#written = write.catch(() => {});
    return write;
  }
}

const claimless = (name: string, option = "whenStoreFails"): StepInvalidError =>
  new StepInvalidError(`step \`${name}\` needs a claim: leave \`${option}\` out`);

/** What the work of a step is given, and what became of its commit. */
interface RunningStep<Write> extends Step<Write> {
  committed: Promise<unknown> | undefined;
  /** From then on nothing can be committed. */
  isOver: boolean;
}

/** @param firstName the child key is derived from that */
function runningStep<Write>(
  name: string,
  firstName: string,
  { attempt, identity, options }: OngoingCall<Write>,
  signalOf: () => AbortSignal,
  record: (result: unknown, writes: readonly Write[]) => Promise<unknown>,
): RunningStep<Write> {
  // Without `this`: handlers take methods out of their object.
  const running: RunningStep<Write> = {
    name,
    attempt,
    committed: undefined,
    isOver: false,
    get signal() {
      return signalOf();
    },
    childKey: (limits) => deriveChildKey(identity, firstName, limits),
    commit(result, effects) {
      if (running.committed || running.isOver) {
        throw new StepInvalidError("a step commits once, before it returns");
      }
      const { writes, ...others } = Object(effects) as Partial<typeof effects>;
      const given = typeof writes === "function" ? [writes] : writes;
      if (!Array.isArray(given) || Object.keys(others).length > 0) {
        throw new StepInvalidError(
          "the commit of a step takes the result, then { writes }: messages go with the commit of the execution",
        );
      }
      if (attempt === undefined) throw claimless(name);
      const list: readonly Write[] = Array.from(given);
      options.store.checkEffects({ writes: list, messages: [] });
      const committed = record(result, list);
      running.committed = committed;
      committed.catch((error: unknown) => {
        // Nothing was written: the step may commit something else.
        if (hasCode(error, "TRANSACTION_CONDITION")) running.committed = undefined;
      });
      return committed as Promise<typeof result>;
    },
  };
  return running;
}
