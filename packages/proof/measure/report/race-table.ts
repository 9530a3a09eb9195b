// The times of a race's contestants next to the peer's, as Markdown tables. Pure.
import { median } from "../timing/median.ts";
import type { RaceFigures } from "../timing/race.ts";
import { CALLERS, type Callers, KINDS, type Kind, type Sample } from "../timing/turn.ts";
import { markdownTable } from "./markdown.ts";

export const PEER = "Powertools";

export type Pick = (sample: Sample) => number;

/** The median of the runs, each next to the peer's in the same run; `NaN` if there is no such contestant. */
export const toPeer = (
  figures: RaceFigures,
  name: string,
  kind: Kind,
  callers: Callers,
  pick: Pick,
): number => toContestant(figures, PEER, name, kind, callers, pick);

/** The same, next to another contestant. */
export function toContestant(
  figures: RaceFigures,
  other: string,
  name: string,
  kind: Kind,
  callers: Callers,
  pick: Pick,
): number {
  const peers = figures[other]?.[kind][callers] ?? [];
  const own = figures[name]?.[kind][callers] ?? [];
  return median(peers.map((peer, run) => (own[run] ? pick(own[run]) / pick(peer) : Number.NaN)));
}

/** The median of the runs. */
export function ofCall(figures: RaceFigures, name: string, kind: Kind, callers: Callers, pick: Pick): number {
  return median((figures[name]?.[kind][callers] ?? []).map(pick));
}

export function raceTable(
  figures: RaceFigures,
  show: (name: string, kind: Kind, callers: Callers) => string,
): string {
  const titles = { firstRun: "first run", replay: "replay" };
  const columns = KINDS.flatMap((kind) => CALLERS.map((callers) => [kind, callers] as const));
  const header = columns.map(
    ([kind, callers], nth) => `${nth % CALLERS.length ? "" : `${titles[kind]}, `}${callers}`,
  );
  const rows = Object.keys(figures).map((name) => [
    name,
    ...columns.map(([kind, callers]) => show(name, kind, callers)),
  ]);
  return markdownTable([["callers", ...header], ...rows]);
}
