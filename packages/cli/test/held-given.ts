// Keys of unknown outcome, and the person who decides about them.
import { randomUUID } from "node:crypto";
import { expect } from "vitest";
import { OutcomeUnknownError } from "../../../lib/core/errors.ts";
import { runOnce } from "../../../lib/core/run-once.ts";
import type { World } from "./world.ts";

export const BY = ["--by", "ana", "--why", "ticket 7"];

export const holding = ({ store, clock }: World, operation: string) => ({
  operation,
  store,
  clock,
  leaseSeconds: 30,
  renewLease: false,
  whenAbandoned: "hold" as const,
});

/** A key whose handler did not get an answer. */
export async function holdKey(world: World, operation = "charge"): Promise<string> {
  const key = randomUUID();
  const held = runOnce(holding(world, operation), key, {}, () => {
    throw new OutcomeUnknownError();
  });
  await expect(held).rejects.toThrow();
  return key;
}
