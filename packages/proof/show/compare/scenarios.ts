// All scenarios of the comparison, in the order of the document.
import type { Scenario } from "./scenario.ts";
import { failingStoreScenarios } from "./scenarios/failing-store.ts";
import { httpScenarios } from "./scenarios/http.ts";
import { keyScenarios } from "./scenarios/keys.ts";
import { lostAnswerScenarios } from "./scenarios/lost-answers.ts";
import { ordinaryScenarios } from "./scenarios/ordinary.ts";
import { payloadScenarios } from "./scenarios/payloads.ts";
import { resultScenarios } from "./scenarios/results.ts";
import { timeoutScenarios } from "./scenarios/timeouts.ts";
import { zombieScenarios } from "./scenarios/zombies.ts";

export const SCENARIOS: Readonly<Record<string, readonly Scenario[]>> = {
  "The ordinary": ordinaryScenarios,
  "Lost answers": lostAnswerScenarios,
  "A table that refuses": failingStoreScenarios,
  "Zombies and clocks": zombieScenarios,
  Timeouts: timeoutScenarios,
  Results: resultScenarios,
  Payloads: payloadScenarios,
  Keys: keyScenarios,
  HTTP: httpScenarios,
};
