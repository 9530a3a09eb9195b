// Every state that the protocol can reach within the bounds of suites.ts, under any number of calls, crashes, lost
// answers and repetitions. The short form leaves out LONG; ONCEONLY_MODEL=large explores the large bounds too.
import { afterAll, describe, expect, it } from "vitest";
import { TRANSITIONS } from "../../../lib/core/record.ts";
import { isFull } from "../../../test/setup/tier.ts";
import type { Bounds } from "./bounds.ts";
import { type Exploration, explore } from "./explore.ts";
import { moveName } from "./invariants.ts";
import { LARGE, LONG, NORMAL } from "./suites.ts";

const isLarge = process.env.ONCEONLY_MODEL === "large";
const bounds = isLarge ? [...NORMAL, ...LARGE] : NORMAL.filter(({ title }) => isFull || !LONG.has(title));
const lines: string[] = [];
const moves = new Set<string>();
let total = 0;

afterAll(() => console.log(`the model, explored completely: ${total} states\n${lines.join("\n")}`));

const count = ({ states, steps, depth, seconds }: Exploration) =>
  `${states} states, ${steps} steps, ${depth} deep, ${seconds.toFixed(1)} s`;

const extent = (bounds: Bounds) => {
  const {
    hosts,
    keys,
    calls,
    senders,
    strays,
    payloads,
    workTicks,
    graceTicks,
    retentionTicks,
    outlives,
    renews,
    whenAbandoned,
  } = bounds;
  const kinds = calls.map(({ mode, handler }) => (mode === "claimed" ? handler : `${mode} ${handler}`));
  return (
    `workers ${hosts.length}, clocks ahead by ${hosts}; keys ${keys}; calls ${kinds}; senders ${senders}; ` +
    `late copies ${strays}; payloads ${payloads}; ticks: work ${workTicks}${outlives ? " and more" : ""}, ` +
    `grace ${graceTicks}, retention ${retentionTicks}${renews ? "; leases renewed" : ""}` +
    `${whenAbandoned ? `; whenAbandoned ${whenAbandoned}` : ""}`
  );
};

describe("the model of the protocol", () => {
  for (const each of bounds) {
    const title = `H1, H2, H4, H7, H8, H33: breaks no invariant, and can always finish: ${each.title}`;
    it(title, { timeout: isLarge ? 3_600_000 : 120_000 }, () => {
      const found = explore(each);

      total += found.states;
      lines.push(`  ${each.title}: ${count(found)}; ${extent(each)}`);
      for (const move of found.moves) moves.add(move);
      expect([found.violation, found.stuck]).toEqual([undefined, undefined]);
    });
  }

  it("makes every move of core's table, and no other one", () => {
    const table = Object.entries(TRANSITIONS).flatMap(([from, states]) =>
      states.map((to) => moveName(from, to)),
    );

    expect([...moves].sort()).toEqual(table.sort());
  });
});
