// Worlds in which whoever held the key has died.
import type { EngineOptions } from "../../lib/core/options.ts";
import type { Evidence } from "../../lib/core/verify.ts";
import type { MemoryWrite } from "../../lib/testing/index.ts";
import { newWorld, pausedWorker, type World } from "./world.ts";

export type WhenAbandoned = NonNullable<EngineOptions["whenAbandoned"]>;

/** The lease of 30 seconds and the 5 of the clocks have passed. */
export async function abandoned(
  whenAbandoned: WhenAbandoned,
  more: Partial<EngineOptions<MemoryWrite>> = {},
) {
  const world = newWorld({ whenAbandoned, ...more });
  const worker = pausedWorker(world);
  await world.clock.advance(36_000);
  return { ...world, worker };
}

export const evidenceOf = (world: Pick<World, "record">) =>
  JSON.parse(world.record().evidence ?? "{}") as Evidence;

export const never = async () => "ran";
