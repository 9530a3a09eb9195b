// Every rule of the protocol is there for a reason: without it the model breaks, and these are the shortest ways.
import { describe, expect, it } from "vitest";
import { isFull } from "../../../test/setup/tier.ts";
import { RULES } from "./bounds.ts";
import { CONTROLS, type Control, findWith, findWithout } from "./controls.ts";
import { explore } from "./explore.ts";
import { INVARIANTS } from "./invariants.ts";
import { COMMIT, OPTIMISTIC, SMALLEST } from "./suites.ts";

const promiseOf = ({ breaks }: Control) =>
  breaks === "liveness" ? "every key can be finished, and its messages sent" : INVARIANTS[breaks];

describe("the model without one rule", { timeout: 120_000 }, () => {
  for (const control of CONTROLS) {
    const { hazards, without, breaks, trace } = control;
    it(`${hazards}: without "${RULES[without]}" breaks "${promiseOf(control)}"`, () => {
      expect(findWithout(control)).toEqual({ breaks, trace });
      // The controls have separate bounds. Only the full form explores them completely with the rule.
      if (isFull) expect(findWith(control)).toEqual({});
    });
  }

  it("has a control for each rule", () => {
    expect([...new Set(CONTROLS.map(({ without }) => without))].sort()).toEqual(Object.keys(RULES).sort());
  });

  it("has a control that breaks each invariant", () => {
    const broken = new Set(CONTROLS.map(({ breaks }) => breaks));

    expect([...broken].sort()).toEqual([...Object.keys(INVARIANTS), "liveness"].sort());
  });

  // A search of 119,000 states.
  it.runIf(isFull)(
    "H40: a retention no longer than a call and the delay of a copy: a spent claim may claim again",
    () => {
      const bounds = { ...SMALLEST, hosts: [0, 0], calls: [COMMIT, OPTIMISTIC], strays: 1 };

      const { violation } = explore({ ...bounds, retentionTicks: 2 });

      expect(violation?.invariant).toBe("claimsOnce");
      expect(violation?.trace.slice(-4)).toEqual([
        "worker 1 inserts: completed, over what it saw",
        "a tick passes",
        "TTL deletes the record of key 1",
        "a copy that was held up arrives: claims",
      ]);
    },
    120_000,
  );

  it("H40: a retention no longer than a call and the clock skew: a repeated insertion may be applied again", () => {
    const found = explore({
      ...SMALLEST,
      hosts: [0, 1],
      graceTicks: 1,
      retentionTicks: 2,
      calls: [COMMIT, OPTIMISTIC],
      senders: 1,
    });

    expect(found.violation?.trace).toContain("worker 1 inserts: completed; the answer is lost");
    expect(found.violation?.trace).toContain("worker 2 takes over what it saw");
    expect(found.violation?.trace.slice(-2)).toEqual([
      "worker 1 inserts: completed, over what it saw",
      "sender 1 marks key 1 as sent",
    ]);
  });
});
