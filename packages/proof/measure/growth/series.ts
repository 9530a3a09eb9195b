// What one unit of work costs at several sizes.
import { randomBytes } from "node:crypto";

/** The cost of one unit of work at each size. */
export interface Series {
  /** Such as "write units per step". */
  readonly cost: string;
  /** At each size of `of`; `null` where it wasn't run. */
  readonly values: readonly (number | null)[];
}

export interface Growth {
  /** What there is more of, such as "keys in the table". */
  readonly of: string;
  readonly sizes: readonly number[];
  readonly series: readonly Series[];
}

export type GrowthFigures = readonly Growth[];

/** Measures at one size: each cost by its name. */
export type AtSize = (size: number) => Promise<Readonly<Record<string, number>>>;

/** Text that hardly compresses. */
export const textOf = (bytes: number): string => randomBytes((bytes * 3) / 4).toString("base64");

/** @param most the largest size that this effort runs */
export async function growthOf(
  of: string,
  sizes: readonly number[],
  most: number,
  measure: AtSize,
): Promise<Growth> {
  const found = new Map<number, Readonly<Record<string, number>>>();
  for (const size of sizes)
    if (size <= most) {
      found.set(size, await measure(size));
      // A full run takes half an hour.
      console.error(new Date().toISOString(), of, size, JSON.stringify(found.get(size)));
    }
  const [first = {}] = found.values();
  const series = Object.keys(first).map((cost) => ({
    cost,
    values: sizes.map((size) => found.get(size)?.[cost] ?? null),
  }));
  return { of, sizes, series };
}
