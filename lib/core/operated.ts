/** What an operator's decisions about finished or released keys have in common. */
import type { Check } from "./option-checks.ts";
import { ENGINE_CHECKS } from "./options.ts";

/** What an operator decided, as the evidence stores it. `resolveRecord` stores a verdict instead. */
export const ASKED = {
  erase: "to erase the result",
  fork: "to run the operation again under another key",
  release: "to release the key",
  rerun: "to run the key again",
} as const;

/** What an operator's decision needs. */
export const OPERATED_CHECKS: Readonly<Record<string, Check>> = {
  store: ENGINE_CHECKS.store,
  clock: ENGINE_CHECKS.clock,
  random: ENGINE_CHECKS.random,
};
