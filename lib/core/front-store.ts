/** A store that wraps another one, with the same capabilities and marks. */
import { eraseIn } from "./erase-record.ts";
import type { CrossChecked } from "./record-cache.ts";
import type { Effects, EraseAnswer, Erasing, SettleAnswer, StepChange, Store } from "./store.ts";

/** A store's properties that the engine must know, even through wrappers. */
export interface StoreMarks {
  /** It receives results that only this process can read. */
  readonly sealsResults?: boolean | undefined;
  /** It stores large results in a bucket. */
  readonly usesBucket?: boolean | undefined;
  /** It keeps only a part of each result. */
  readonly redactsResults?: boolean | undefined;
  /** It keeps a record in more than one place. */
  readonly copiesRecords?: boolean | undefined;
  /** Its requests, or the handlers themselves, use the connections of a pool, which may be few. */
  readonly usesPool?: boolean | undefined;
}

export function marksOf(...stores: readonly object[]): Required<StoreMarks> {
  const is = (mark: keyof StoreMarks) => stores.some((store) => (store as StoreMarks)[mark] === true);
  return {
    sealsResults: is("sealsResults"),
    usesBucket: is("usesBucket"),
    redactsResults: is("redactsResults"),
    copiesRecords: is("copiesRecords"),
    usesPool: is("usesPool"),
  };
}

/** Checks everything remembered in front of these stores; `undefined` if nothing is. */
export function crossChecksOf(...stores: readonly object[]): CrossChecked["crossCheck"] {
  const remembering = stores.filter((store: CrossChecked) => store.crossCheck) as Required<CrossChecked>[];
  if (remembering.length === 0) return undefined;
  return async function* () {
    for (const store of remembering) yield* store.crossCheck!();
  };
}

/** Optional methods exist only if the wrapped store has them, because each one means a capability. */
export abstract class FrontStore<Write> implements StoreMarks, CrossChecked {
  protected readonly store: Store<Write>;
  readonly unknownOutcomes: Store<Write>["unknownOutcomes"];
  readonly writeStep: Store<Write>["writeStep"];
  readonly handlerFailed: Store<Write>["handlerFailed"];
  readonly handlerLost: Store<Write>["handlerLost"];
  readonly handlerOver: Store<Write>["handlerOver"];
  readonly patienceMs: Store<Write>["patienceMs"];
  readonly patienceClock: Store<Write>["patienceClock"];
  crossCheck: CrossChecked["crossCheck"];
  /** @internal */
  readonly sealsResults: boolean;
  /** @internal */
  readonly usesBucket: boolean;
  /** @internal */
  readonly redactsResults: boolean;
  /** @internal */
  readonly copiesRecords: boolean;
  /** @internal */
  readonly usesPool: boolean;

  constructor(store: Store<Write>, own: StoreMarks = {}) {
    this.store = store;
    this.unknownOutcomes = store.unknownOutcomes?.bind(store);
    this.writeStep = store.writeStep && ((change) => this.passStep(change));
    this.handlerFailed = store.handlerFailed?.bind(store);
    this.handlerLost = store.handlerLost?.bind(store);
    this.handlerOver = store.handlerOver?.bind(store);
    this.patienceMs = store.patienceMs;
    this.patienceClock = store.patienceClock;
    this.crossCheck = crossChecksOf(store);
    const { sealsResults, usesBucket, redactsResults, copiesRecords, usesPool } = marksOf(store, own);
    this.sealsResults = sealsResults;
    this.usesBucket = usesBucket;
    this.redactsResults = redactsResults;
    this.copiesRecords = copiesRecords;
    this.usesPool = usesPool;
  }

  /** @internal The same wrapper around the store that `change` makes of the wrapped one. */
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
