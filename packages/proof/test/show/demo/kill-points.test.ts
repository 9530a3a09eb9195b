import { describe, expect, it } from "vitest";
import type { Act } from "../../../show/demo/faults.ts";
import { killAt } from "../../../show/demo/kill-points.ts";

/** The request at the moment of each kill, as the watched record would send it. */
function watch() {
  const acts = new Map<string, Act>();
  const on = (recordKey: string, moment: string, act: Act) => {
    const name = `${recordKey} ${moment}`;
    acts.set(name, act);
    return () => void acts.delete(name);
  };
  return { on, ask: (name: string) => acts.get(name)?.() };
}

describe("killAt", () => {
  it.each([
    ["before-claim", "record claim", "throttle"],
    ["after-claim", "record claim", "pass"],
    ["before-commit", "record commit", "throttle"],
    ["after-commit", "record commit", "pass"],
    ["before-mark", "record mark", "throttle"],
    ["after-mark", "record mark", "pass"],
  ] as const)("kills %s: at the %s, which is answered by %s", (point, moment, fault) => {
    const faults = watch();
    let kills = 0;
    killAt(faults, "record", point, () => ++kills > 0);

    expect([faults.ask(moment), faults.ask(moment)]).toEqual([fault, undefined]);
    expect(kills).toBe(1);
  });

  it("waits for the next time if no process was killed", () => {
    const faults = watch();
    const answers = [false, true];
    killAt(faults, "record", "after-commit", () => answers.shift()!);

    expect([faults.ask("record commit"), faults.ask("record commit")]).toEqual([undefined, "pass"]);
  });
});
