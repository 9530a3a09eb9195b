// A saga of four steps on any store, whose process dies where a test says, and the judge of what is left.
import { expect } from "vitest";
import { identify } from "../../lib/core/identity.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import type { Store } from "../../lib/core/store.ts";
import type { AbandonedAttempt, Verification } from "../../lib/core/verify.ts";
import type { SagaStep } from "../../lib/saga/definition.ts";
import { saga } from "../../lib/saga/saga.ts";
import type { FakeClock } from "../../lib/testing/index.ts";

/** A system of somebody else: what it has done under which key, and undone. */
class Provider {
  readonly done = new Map<string, number>();
  readonly undone = new Map<string, number>();
  readonly #keepsKeys: boolean;

  constructor(keepsKeys: boolean) {
    this.#keepsKeys = keepsKeys;
  }

  do(key: string): string {
    const times = this.done.get(key) ?? 0;
    if (!this.#keepsKeys || times === 0) this.done.set(key, times + 1);
    return `did ${key}`;
  }

  /** Nothing to undo is nothing done. */
  undo(key: string): void {
    if (this.done.has(key)) this.undone.set(key, 1);
  }

  get effects(): number {
    return [...this.done.values()].reduce((sum, times) => sum + times, 0);
  }
}

export type Mode = "honest" | "refuses" | "answerLost" | "undoFails";

/** The life of a process: it passes one point after the other, and stands still at the one that is armed. */
export function mortal() {
  let passed = 0;
  let armed = Number.POSITIVE_INFINITY;
  let resume = () => {};
  let stands = Promise.resolve();
  const point = async () => {
    if (passed++ !== armed) return;
    resume();
    await new Promise(() => {});
  };
  return {
    point,
    arm: (at: number) => {
      passed = 0;
      armed = at;
      stands = new Promise((resolve) => {
        resume = resolve;
      });
    },
    get passed() {
      return passed;
    },
    /** Resolves once the process stands still. */
    get stands() {
      return stands;
    },
  };
}

export type Life = ReturnType<typeof mortal>;

/** The store and the table in which the saga keeps its record and its order, for one key. */
export interface Books<Write> {
  readonly store: Store<Write>;
  readonly key: string;
  readonly clock: FakeClock;
  /** Writes the order open, if there is none, or closed. */
  order(isOpen: boolean): Write;
  isOpen(): Promise<boolean>;
}

interface Played {
  readonly orders: number;
  readonly stock: Provider;
  readonly payments: Provider;
  readonly mail: Provider;
  readonly state: string;
  readonly listed: number;
  readonly points: readonly number[];
  readonly answers: readonly string[];
}

/** Plays the saga: attempts that die at the points given, then attempts that live, until it is settled. */
export async function play<Write>(
  books: Books<Write>,
  life: Life,
  mode: Mode,
  atMostOnce: boolean,
  ...deaths: readonly number[]
): Promise<Played> {
  const [stock, payments, mail] = [new Provider(true), new Provider(!atMostOnce), new Provider(true)];
  let isFirstUndo = true;
  const act = async <T>(effect: () => T): Promise<T> => {
    await life.point();
    const value = effect();
    await life.point();
    return value;
  };
  const verify = ({ childKey }: AbandonedAttempt): Verification => {
    const key = childKey();
    return payments.done.has(key)
      ? { outcome: "happened", result: `did ${key}` }
      : { outcome: "did-not-happen" };
  };
  const steps: readonly SagaStep<unknown, Write>[] = [
    {
      name: "order",
      run: ({ commit }) => commit("order-1", { writes: [books.order(true)] as never }),
      compensate: ({ commit, result }) =>
        result ? commit(null, { writes: [books.order(false)] as never }) : undefined,
    },
    {
      name: "stock",
      run: ({ childKey }) => act(() => stock.do(childKey())),
      compensate: ({ stepKey }) =>
        act(() => {
          if (mode === "undoFails" && isFirstUndo) {
            isFirstUndo = false;
            throw new Error("not now");
          }
          stock.undo(stepKey());
        }),
    },
    {
      name: "charge",
      run: ({ childKey }) =>
        act(() => {
          if (mode === "refuses" || mode === "undoFails") throw new Error("card refused");
          const answer = payments.do(childKey());
          if (mode === "answerLost") throw new Error("no answer");
          return answer;
        }),
      compensate: ({ stepKey }) => act(() => payments.undo(stepKey())),
      ...(atMostOnce && { verify }),
    },
    { name: "mail", run: ({ childKey }) => act(() => mail.do(childKey())) },
  ];
  const place = saga("place", steps);
  const { store, key, clock } = books;
  const options = { operation: "create-order", store, clock, leaseSeconds: 30, renewLease: false };
  const points: number[] = [];
  const answers: string[] = [];
  const attempt = async () => {
    const outcome = runOnce(options, key, {}, (execution) => place.run(execution, {})).then(
      () => answers.push("done"),
      ({ name }: Error) => answers.push(name),
    );
    await Promise.race([outcome, life.stands]);
    // Longer than a lease, and than the pause between two questions.
    await clock.advance(96_000);
    points.push(life.passed);
  };
  for (const death of deaths) {
    life.arm(death);
    await attempt();
  }
  life.arm(Number.POSITIVE_INFINITY);
  for (let more = 0; more < 4; more++) await attempt();
  let listed = 0;
  const { recordKey } = identify("create-order", "", key);
  for await (const unknown of store.unknownOutcomes?.({ before: clock.now() }) ?? [])
    if (unknown.recordKey === recordKey) listed++;
  const { state = "absent" } = (await store.find(recordKey, { consistent: true })) ?? {};
  const orders = (await books.isOpen()) ? 1 : 0;
  return { orders, stock, payments, mail, state, listed, points, answers };
}

/** All is done, or what was done is undone; nothing twice, and nobody has to look at it. */
function classify(
  { orders, stock, payments, mail, state, listed, answers }: Played,
  where: string,
): "done" | "undone" {
  const held = [stock, payments, mail].map(({ effects }) => effects);
  expect(Math.max(...held), `${where}: an effect twice`).toBeLessThanOrEqual(1);
  expect(listed, `${where}: still listed`).toBe(0);
  const last = answers.at(-1);
  if (state === "completed") {
    expect([orders, ...held, stock.undone.size, payments.undone.size], where).toEqual([1, 1, 1, 1, 0, 0]);
    expect(last, where).toBe("done");
    return "done";
  }
  expect(state, where).toBe("failed");
  expect(last, where).toBe("SagaCompensatedError");
  expect([orders, mail.effects], where).toEqual([0, 0]);
  expect([stock.undone.size, payments.undone.size], where).toEqual([stock.done.size, payments.done.size]);
  return "undone";
}

/** How the saga ends, by how its systems are. */
export const ENDINGS = [
  ["honest", "done"],
  ["refuses", "undone"],
  ["answerLost", "undone"],
  ["undoFails", "undone"],
] as const;

/** Plays a first death and a second one for each pair that is chosen. Resolves to the number of pairs. */
export async function playPairs(
  playAt: (...deaths: readonly number[]) => Promise<Played>,
  { mode, atMostOnce, ending }: { mode: Mode; atMostOnce: boolean; ending: "done" | "undone" },
  isChosen: (first: number, then: number) => boolean,
): Promise<number> {
  const [points = 0] = (await playAt()).points;
  expect(points).toBeGreaterThan(14);
  let runs = 0;
  for (let first = 0; first < points; first++) {
    const [, second = 0] = (await playAt(first)).points;
    for (let then = 0; then < second; then++) {
      if (!isChosen(first, then)) continue;
      const ended = classify(await playAt(first, then), `${mode}, dead at ${first} and ${then}`);
      // The charge has happened, and who asks before the error is seen goes on.
      if (ended !== ending) expect([mode, atMostOnce, ended]).toEqual(["answerLost", true, "done"]);
      runs++;
    }
  }
  return runs;
}
