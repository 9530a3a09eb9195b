// What one unit of work costs as there is more of everything: keys, payload, messages, waiting commits, rows, functions. Costs are
// counts, so a busy machine doesn't change them. A cost that stays the same grows with its work.
import type { Effort } from "../effort.ts";
import { dynamodbGrowth } from "./dynamodb.ts";
import { postgresGrowth } from "./postgres.ts";
import type { Growth, GrowthFigures } from "./series.ts";
import { synthesisGrowth } from "./synthesis.ts";

export const GROWTH_STEPS = 3;

/** @param step called `GROWTH_STEPS` times */
export async function measureGrowth(
  endpoint: string,
  effort: Effort,
  step: () => void,
): Promise<GrowthFigures> {
  const figures: Growth[] = [];
  for (const part of [dynamodbGrowth, postgresGrowth, synthesisGrowth]) {
    figures.push(...(await part(endpoint, effort)));
    step();
  }
  return figures;
}
