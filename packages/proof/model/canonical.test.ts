// States of one name are explored once: that must lose nothing.
import { describe, expect, it } from "vitest";
import { fakeRandom } from "../../../lib/testing/index.ts";
import type { Bounds } from "./bounds.ts";
import { canonical } from "./canonical.ts";
import { explore } from "./explore.ts";
import { initialState, type ModelState } from "./state.ts";
import { stepsFrom } from "./steps.ts";
import { RICH, RICH_SAGA, SMALLEST } from "./suites.ts";

/** An attempt's number means nothing: with it there would be infinitely many states. */
const exactName = (state: ModelState) =>
  JSON.stringify(state, (name, value) => (name.startsWith("attempt") ? Math.min(1, value) : value));

describe("canonical", { timeout: 120_000 }, () => {
  it.each<Partial<Bounds>>([
    { hosts: [0, 0], retentionTicks: 1, workTicks: 0 },
    { strays: 1, retentionTicks: 1 },
    { keys: 2, retentionTicks: 1, workTicks: 0 },
  ])("loses no state that is reached without it: %o", (change) => {
    const bounds: Bounds = { ...SMALLEST, ...change };
    const [all, named] = [new Set<string>(), new Set<string>()];
    const note = (names: Set<string>, state: ModelState) => {
      const name = canonical(state, bounds);
      names.add(name);
      return name;
    };

    const exact = explore(bounds, {
      nameOf: (state) => {
        note(all, state);
        return exactName(state);
      },
    });
    const short = explore(bounds, { nameOf: (state) => note(named, state) });

    expect(named).toEqual(all);
    expect(short.states).toBeLessThan(exact.states);
  });

  it.each([RICH, RICH_SAGA])(
    "gives one name to states of the same future only, along random walks",
    (bounds) => {
      const random = fakeRandom("walks");
      const seen = new Map<string, { future: string; states: Set<string> }>();
      for (let walk = 0; walk < 400; walk++) {
        let state = initialState(bounds);
        for (let length = 0; length < 20; length++) {
          const name = canonical(state, bounds);
          const steps = stepsFrom(state, bounds);
          const future = [...new Set(steps.map(({ next }) => canonical(next, bounds)))].sort().join("\n");
          const known = seen.get(name) ?? { future, states: new Set() };
          seen.set(name, known);
          known.states.add(JSON.stringify(state));
          expect(future).toBe(known.future);
          state = steps[Math.floor(random.fraction() * steps.length)]?.next as ModelState;
        }
      }

      const shared = [...seen.values()].filter(({ states }) => states.size > 1);
      expect(shared.length).toBeGreaterThan(100);
    },
  );
});
