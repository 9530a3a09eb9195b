/** The steps of one attempt: finished steps are recorded under the claim, and later attempts skip them. */
import { asItIs, ask } from "./abandoned.ts";
import { OutcomeUnknownError, StepInvalidError } from "./errors.ts";
import { suggestion } from "./nearest.ts";
import type { OngoingCall } from "./ongoing-call.ts";
import { decodeResult, encodeResult, readResult } from "./outcome.ts";
import type { StoredStep } from "./record.ts";
import type { Recording } from "./recording.ts";
import { claimless, runningStep } from "./running-step.ts";
import { type StepEnd, writeStep } from "./step-writing.ts";
import { checkStep, type Step, type StepOptions } from "./steps.ts";
import { synchronous } from "./unawaited.ts";
import { encodeEvidence } from "./verify.ts";

/** More steps would make each write of a step more expensive. */
const MAX_STEPS = 100;

/** The step options that a record keeps. */
const marksOf = ({ tracked, next, undo, undoNext }: StepOptions) => ({ tracked, next, undo, undoNext });

type StepWork<Write> = (step: Step<Write>) => unknown;

export class StepLog<Write> {
  readonly #call: OngoingCall<Write>;
  readonly #recording: Recording<Write>;
  readonly #signalOf: () => AbortSignal;
  /** Step names that this attempt has used: a second step with the same name would get the result of the first. */
  readonly #asked = new Set<string>();
  readonly #underWay = new Map<string, Promise<unknown>>();
  /** The last write of a step that was begun. */
  #written: Promise<unknown> = Promise.resolve();
  /** The verdict about a step whose end was unknown. */
  evidence: string | undefined;

  constructor(call: OngoingCall<Write>, recording: Recording<Write>, signalOf: () => AbortSignal) {
    this.#call = call;
    this.#recording = recording;
    this.#signalOf = signalOf;
  }

  /** The names of the running steps. */
  get underWay(): readonly string[] {
    return [...this.#underWay.keys()];
  }

  /**
   * Resolves when no step is running, or the time to wait for one is over.
   * @throws the error of a step that failed meanwhile, which the handler may not have awaited
   */
  async settled(): Promise<void> {
    const running = [...this.#underWay.values()];
    if (running.length === 0) return;
    const signal = this.#signalOf();
    const aborted = new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve());
    });
    const all = Promise.allSettled(running).then(async () => void (await Promise.all(running)));
    await Promise.race([all, aborted]);
  }

  /** Checked synchronously, not in a promise: a handler that doesn't await a step must not go on with a wrong one. */
  run<T>(name: string, work: StepWork<Write>, given: StepOptions = {}): Promise<T> {
    checkStep(name, work, given);
    const { verify, atMostOnce = verify !== undefined } = given;
    const options = { ...given, atMostOnce };
    this.#checkUse(name, options);
    this.#asked.add(name);
    const running = this.#run(name, work, options).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, running);
    // Checked again when the attempt ends.
    running.catch(() => {});
    return running as Promise<T>;
  }

  /** Checks whether this attempt can record the step. */
  #checkUse(name: string, { atMostOnce, tracked }: StepOptions): void {
    if (this.#asked.has(name)) {
      throw new StepInvalidError(
        `step \`${name}\` was used twice in one attempt: give each step its own name`,
      );
    }
    const { store, mode, steps } = this.#call.options;
    const isListed = atMostOnce || tracked;
    if (steps && !steps.includes(name)) {
      throw new StepInvalidError(
        `step \`${name}\` isn't in the option \`steps\` ${suggestion(name, steps, "it lists")}: add it there`,
      );
    }
    if (mode === "optimistic") throw claimless(name, "mode");
    if (!store.writeStep || (isListed && !store.unknownOutcomes)) {
      throw new StepInvalidError(
        `step \`${name}\` needs a store with the method \`${store.writeStep ? "unknownOutcomes" : "writeStep"}\``,
      );
    }
    if (isListed && !this.#recording.lease.isClaimed) throw claimless(name);
  }

  async #run(name: string, work: StepWork<Write>, options: StepOptions): Promise<unknown> {
    const { lease } = this.#recording;
    const { steps } = lease;
    const { formerly = [] } = options;
    const known = [name, ...formerly].find((each) => (steps[each]?.state ?? "undone") !== "undone") ?? "";
    const previous = steps[known];
    const [childName = name] = formerly;
    const asks = () => this.#ask(known, childName, previous as StoredStep, options);
    const isDone = previous && (previous.state === "done" || (await asks()));
    if (isDone) return decodeResult(await readResult(lease.steps[known]?.result, this.#call));
    if (Object.keys(steps).length >= MAX_STEPS && !steps[name]) {
      throw new StepInvalidError(`an operation can have at most ${MAX_STEPS} steps: combine some`);
    }
    return this.#runWork(name, work, options);
  }

  /** Runs the step now: it isn't recorded, or it is known that it didn't happen. */
  async #runWork(name: string, work: StepWork<Write>, options: StepOptions): Promise<unknown> {
    const { atMostOnce, didNotHappen, formerly = [] } = options;
    const marks = marksOf(options);
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
      // Its commit counts even if the work throws, and no retry runs at the same time.
      running.isOver = true;
      await running.committed?.catch(() => {});
      // It may be tried again in the same attempt, because nothing about it is recorded.
      if (!atMostOnce) this.#asked.delete(name);
      else if (
        isOfWork &&
        !running.committed &&
        synchronous("didNotHappen", didNotHappen?.(error), undefined, error) === true
      ) {
        await this.#write(name, { state: "undone" });
        this.#asked.delete(name);
      }
      throw error;
    }
  }

  /**
   * Asks how an interrupted step ended: resolves to whether it happened.
   * @throws OutcomeUnknownError if the outcome stays unknown: the key is held
   */
  async #ask(name: string, childName: string, previous: StoredStep, options: StepOptions) {
    const { verify } = options;
    const call = this.#call;
    const { attempt, at } = previous;
    const { startBy, formerEndedAt } = this.#recording.lease;
    const about = { attempt, startedAt: at, leaseEndedAt: formerEndedAt };
    const { outcome, evidence, text, error } = verify
      ? await ask(call, { verify, option: "verify", about, childName, startBy, toStored: asItIs })
      : { outcome: "unknown" as const };
    const by = verify ? "verify" : "step";
    const since = formerEndedAt;
    const verdict = { verdict: outcome, by, at: call.now(), attempt, step: name, since };
    const encoded = encodeEvidence({ ...evidence, ...verdict });
    if (outcome === "unknown") {
      this.evidence = encoded;
      throw call.own(new OutcomeUnknownError(error, error === undefined ? undefined : evidence?.answered));
    }
    this.#recording.evidence = encoded;
    const happened = outcome === "happened";
    await this.#write(name, {
      ...previous,
      ...marksOf(options),
      state: happened ? "done" : "undone",
      result: text,
    });
    if (happened) call.report("verified");
    return happened;
  }

  /** One after the other, because they all change the same item. */
  #write(name: string, change: StepEnd, writes: readonly Write[] = []): Promise<string | undefined> {
    const { lease } = this.#recording;
    if (!lease.isClaimed) return Promise.resolve(change.result);
    const write = this.#written.then(() => writeStep(this.#call, lease, name, change, writes));
    this.#written = write.catch(() => {});
    return write;
  }
}
