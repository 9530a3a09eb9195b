/** How states, times and hashes are said on the page. */
import type { LiveState } from "../look.ts";

export const STATES: readonly LiveState[] = [
  "in-progress",
  "abandoned",
  "held",
  "unfinished",
  "failed",
  "released",
  "completed",
  "unreadable",
];

/** The end of a hash is as good as the whole of it, for eyes. */
export const shortHash = (hash: string) => hash.slice(0, 10);

const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
] as const;

/** Such as `5 min ago`. */
export function agoOf(ms: number, now: number): string {
  if (ms === 0) return "";
  const distance = Math.abs(ms - now);
  const [size, unit] = UNITS.find(([each]) => distance >= 2 * each) ?? [1000, "s"];
  const text = `${Math.round(distance / size)} ${unit}`;
  return ms > now ? `in ${text}` : `${text} ago`;
}

export const clockOf = (ms: number) => new Date(ms).toISOString().slice(11, 19);

export const counted = (count: number, word: string) => `${count} ${word}${count === 1 ? "" : "s"}`;
