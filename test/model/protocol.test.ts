// Every state that the protocol can reach within the bounds of suites.ts, under any number of calls, crashes, lost
// answers and repetitions. ONCEONLY_MODEL=large explores the large bounds too, for some minutes.
import { afterAll, describe, expect, it } from "vitest";
import { TRANSITIONS } from "../../lib/core/record.ts";
import { fakeRandom } from "../../lib/testing/index.ts";
import type { Bounds } from "./bounds.ts";
import { canonical } from "./canonical.ts";
import { type Exploration, explore } from "./explore.ts";
import { moveName } from "./invariants.ts";
import { initialState, type ModelState } from "./state.ts";
import { stepsFrom } from "./steps.ts";
import { LARGE, NORMAL, RICH } from "./suites.ts";

const isLarge = process.env.ONCEONLY_MODEL === "large";
const lines: string[] = [];
const moves = new Set<string>();

afterAll(() => console.log(`the model, explored completely:\n${lines.join("\n")}`));

const count = ({ states, steps, depth, seconds }: Exploration) =>
  `${states} states, ${steps} steps, ${depth} deep, ${seconds.toFixed(1)} s`;

const extent = ({ hosts, keys, senders, workTicks, graceTicks, retentionTicks }: Bounds) =>
  `${hosts.length} workers, clocks ahead by ${hosts}; ${keys} keys; ${senders} senders; ` +
  `ticks of work ${workTicks}, grace ${graceTicks}, retention ${retentionTicks}`;

describe("the model of the protocol", () => {
  for (const bounds of isLarge ? [...NORMAL, ...LARGE] : NORMAL) {
    const title = `H1, H2, H4, H7, H8, H33: breaks no invariant, and can always finish: ${bounds.title}`;
    it(title, { timeout: isLarge ? 1_200_000 : 30_000 }, () => {
      const found = explore(bounds);

      lines.push(`  ${bounds.title}: ${count(found)}; ${extent(bounds)}`);
      for (const move of found.moves) moves.add(move);
      expect([found.violation, found.stuck]).toEqual([undefined, undefined]);
    });
  }

  it("makes every move of core's table, and no other one; nothing holds a record yet", () => {
    const table = Object.entries(TRANSITIONS).flatMap(([from, states]) =>
      states.map((to) => moveName(from, to)),
    );

    expect([...moves].sort()).toEqual(table.filter((move) => !move.includes("held")).sort());
  });
});

describe("canonical", () => {
  it("gives one name to states of the same future only, along random walks", () => {
    const random = fakeRandom("walks");
    const seen = new Map<string, { future: string; states: Set<string> }>();
    for (let walk = 0; walk < 200; walk++) {
      let state = initialState(RICH);
      for (let length = 0; length < 20; length++) {
        const name = canonical(state, RICH);
        const steps = stepsFrom(state, RICH);
        const future = [...new Set(steps.map(({ next }) => canonical(next, RICH)))].sort().join("\n");
        const known = seen.get(name) ?? { future, states: new Set() };
        seen.set(name, known);
        known.states.add(JSON.stringify(state));
        expect(future).toBe(known.future);
        state = steps[Math.floor(random.fraction() * steps.length)]?.next as ModelState;
      }
    }

    const shared = [...seen.values()].filter(({ states }) => states.size > 1);
    expect(shared.length).toBeGreaterThan(100);
  });
});
