// A saga dies at each of its requests, and so does the attempt that goes on: all is done or undone, each effect once.
import { describe, expect, it } from "vitest";
import { intercepted } from "../../kit/faults/faulty-store.ts";
import type { Execution } from "../../lib/core/execution.ts";
import type { Verification } from "../../lib/core/verify.ts";
import { type SagaStep, saga } from "../../lib/saga/saga.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { newWorld } from "../core/world.ts";
import { inTier } from "../setup/tier.ts";

type Step = SagaStep<unknown, MemoryWrite>;

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

type Mode = "honest" | "refuses" | "answerLost" | "undoFails";

/** The life of a process: it passes one point after the other, and stands still at the one that is armed. */
function mortal() {
  let passed = 0;
  let armed = Number.POSITIVE_INFINITY;
  const point = async () => {
    if (passed++ === armed) await new Promise(() => {});
  };
  return {
    point,
    arm: (at: number) => {
      passed = 0;
      armed = at;
    },
    get passed() {
      return passed;
    },
  };
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
async function play(mode: Mode, atMostOnce: boolean, ...deaths: readonly number[]): Promise<Played> {
  const world = newWorld();
  const life = mortal();
  const [stock, payments, mail] = [new Provider(true), new Provider(!atMostOnce), new Provider(true)];
  let isFirstUndo = true;
  const store = intercepted(world.memory, async (_, request) => {
    await life.point();
    const answer = await request();
    await life.point();
    return answer;
  });
  const act = async <T>(effect: () => T): Promise<T> => {
    await life.point();
    const value = effect();
    await life.point();
    return value;
  };
  const order = (item: object, condition?: MemoryWrite["condition"]): MemoryWrite => ({
    table: "orders",
    key: "1",
    item: { ...item },
    ...(condition && { condition }),
  });
  const verify = ({ childKey }: { childKey: (name: string) => string }): Verification => {
    const key = childKey("place/charge");
    return payments.done.has(key)
      ? { outcome: "happened", result: `did ${key}` }
      : { outcome: "did-not-happen" };
  };
  const steps: readonly Step[] = [
    {
      name: "order",
      run: ({ commit }) => commit("order-1", { writes: [order({ open: true }, (former) => !former)] }),
      compensate: ({ commit, result }) =>
        result ? commit(null, { writes: [order({ open: false })] }) : undefined,
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
      ...(atMostOnce && { atMostOnce, verify: verify as Step["verify"] & object }),
    },
    { name: "mail", run: ({ childKey }) => act(() => mail.do(childKey())) },
  ];
  const place = saga("place", steps);
  const points: number[] = [];
  const answers: string[] = [];
  const attempt = async () => {
    const call = world.start((execution) => place.run(execution as Execution<MemoryWrite>, {}), { store });
    const told = call.then(
      () => answers.push("done"),
      ({ name }: Error) => answers.push(name),
    );
    // As long as a lease: whoever is dead by then is not answered.
    await Promise.race([told, world.clock.advance(36_000)]);
    await world.clock.advance(60_000);
    points.push(life.passed);
  };
  for (const death of deaths) {
    life.arm(death);
    await attempt();
  }
  life.arm(Number.POSITIVE_INFINITY);
  for (let more = 0; more < 4; more++) await attempt();
  let listed = 0;
  for await (const _ of world.memory.unknownOutcomes({ before: world.clock.now() })) listed++;
  const state = world.record().state;
  const open = world.memory.table("orders").get("1")?.open;
  return { orders: open === true ? 1 : 0, stock, payments, mail, state, listed, points, answers };
}

/** All is done, or what was done is undone; nothing twice, and nobody has to look at it. */
function judge(
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

describe.each([false, true])(
  "H53: a saga that dies at each of its requests, twice (charge at most once: %s)",
  (atMostOnce) => {
    it.each([
      ["honest", "done"],
      ["refuses", "undone"],
      ["answerLost", "undone"],
      ["undoFails", "undone"],
    ] as const)(
      "where its systems are %s, all is %s",
      async (mode, ending) => {
        const [points = 0] = (await play(mode, atMostOnce)).points;
        expect(points).toBeGreaterThan(14);
        // Each request is a first and a second one in the short form too, though not with each other.
        const stride = inTier(5, 1);
        let runs = 0;
        for (let first = 0; first < points; first++) {
          const [, second = 0] = (await play(mode, atMostOnce, first)).points;
          for (let then = first % stride; then < second; then += stride) {
            const where = `${mode}, dead at ${first} and ${then}`;
            const ended = judge(await play(mode, atMostOnce, first, then), where);
            // The charge has happened, and who asks before the error is seen goes on.
            if (ended !== ending) expect([mode, atMostOnce, ended]).toEqual(["answerLost", true, "done"]);
            runs++;
          }
        }
        console.log(`${mode}, at most once ${atMostOnce}: ${runs} pairs of crashes, none half done`);
      },
      inTier(60_000, 600_000),
    );
  },
);
