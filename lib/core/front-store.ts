/** A store in front of another one: it can do what the one behind can, and says of it what has to be known. */
import { eraseIn } from "./erase-record.ts";
import type { CrossChecked } from "./record-cache.ts";
import type { Effects, EraseAnswer, Erasing, SettleAnswer, StepChange, Store } from "./store.ts";

/** What has to be known of a store, whatever is in front of it. */
export interface StoreMarks {
  /** It is given results that only this process can read. */
  readonly sealsResults?: boolean | undefined;
  /** It keeps a part of each result only. */
  readonly redactsResults?: boolean | undefined;
}

export function marksOf(...stores: readonly object[]): Required<StoreMarks> {
  const is = (mark: keyof StoreMarks) => stores.some((store) => (store as StoreMarks)[mark] === true);
  return { sealsResults: is("sealsResults"), redactsResults: is("redactsResults") };
}

/** Goes through all that is remembered in front of these stores; `undefined` where nothing is. */
export function crossChecksOf(...stores: readonly object[]): CrossChecked["crossCheck"] {
  const remembering = stores.filter((store: CrossChecked) => store.crossCheck) as Required<CrossChecked>[];
  if (remembering.length === 0) return undefined;
  return async function* () {
    for (const store of remembering) yield* store.crossCheck!();
  };
}

/** Optional methods are there where the store behind has them: each stands for something that it can do. */
export abstract class FrontStore<Write> implements StoreMarks, CrossChecked {
  protected readonly store: Store<Write>;
  readonly unknownOutcomes: Store<Write>["unknownOutcomes"];
  readonly writeStep: Store<Write>["writeStep"];
  readonly handlerFailed: Store<Write>["handlerFailed"];
  readonly handlerOver: Store<Write>["handlerOver"];
  readonly patienceMs: Store<Write>["patienceMs"];
  readonly patienceClock: Store<Write>["patienceClock"];
  crossCheck: CrossChecked["crossCheck"];
  /** @internal */
  readonly sealsResults: boolean;
  /** @internal */
  readonly redactsResults: boolean;

  constructor(store: Store<Write>, own: StoreMarks = {}) {
    this.store = store;
    this.unknownOutcomes = store.unknownOutcomes?.bind(store);
    this.writeStep = store.writeStep && ((change) => this.passStep(change));
    this.handlerFailed = store.handlerFailed?.bind(store);
    this.handlerOver = store.handlerOver?.bind(store);
    this.patienceMs = store.patienceMs;
    this.patienceClock = store.patienceClock;
    this.crossCheck = crossChecksOf(store);
    const { sealsResults, redactsResults } = marksOf(store, own);
    this.sealsResults = sealsResults;
    this.redactsResults = redactsResults;
  }

  /** @internal The same in front of a store that `change` makes of the one behind it. */
  abstract inFrontOf(change: (store: Store<Write>) => Store<Write>): Store<Write>;

  protected passStep(change: StepChange<Write>): Promise<SettleAnswer> {
    return (this.store as Required<Store<Write>>).writeStep(change);
  }

  erase(erasing: Erasing): Promise<EraseAnswer> {
    return eraseIn(this.store, erasing);
  }

  loadResult(address: string): Promise<string | undefined> {
    return this.store.loadResult(address);
  }

  checkEffects(effects: Effects<Write>): void {
    this.store.checkEffects(effects);
  }
}
