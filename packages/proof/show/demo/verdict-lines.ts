// The result in words. Pure.
import { type Look, PLAIN } from "./look.ts";
import type { Observation } from "./observation.ts";
import type { Plan } from "./plan.ts";
import { balanceOf } from "./sagas/saga-verdict.ts";

const MOST_PROBLEMS_SHOWN = 20;

export function formatVerdict(
  plan: Plan,
  observation: Observation,
  problems: readonly string[],
  look: Look = PLAIN,
): string {
  if (problems.length === 0) return look.tick + held(plan, observation);
  const shown = problems.slice(0, MOST_PROBLEMS_SHOWN).map((problem) => `  ${problem}`);
  const more = problems.length - shown.length;
  const lines = [`broken (${problems.length}):`, ...shown, ...(more > 0 ? [`  and ${more} more`] : [])];
  return look.cross + lines.join("\n");
}

function held({ orders, sagas }: Plan, { answers, receipts, sagas: seen }: Observation): string {
  const { parked, redirected, sentAgain } = receipts;
  const sentOn = redirected.length + sentAgain.length;
  const declined = orders.filter(({ payment }) => payment.kind === "declined").length;
  const paid = orders.length - declined;
  const successes = answers.filter(({ status }) => status < 300).length;
  return [
    `held: one order for each key of each tenant (${orders.length} of ${orders.length}),`,
    `      one answer for each of them (${successes} successful responses, those of one key identical),`,
    `      one payment and one charge for each order that is paid (${paid} of ${paid}), none for the ${declined} declined,`,
    "      every message sent and done: nothing is left in outbox, queue or dead-letter queue,",
    `      ${parked} messages of a queue that was not there parked, ${sentOn} of them sent on once somebody said so,`,
    sagaLine(sagas, seen),
  ].join("\n");
}

function sagaLine({ length }: Plan["sagas"], seen: Observation["sagas"]): string {
  const { placed, canceled, charges, refunds, reserved } = balanceOf(seen);
  return [
    `      ${length} sagas through ${seen.killed.length} kills: ${placed} orders placed and charged once, ${canceled} undone,`,
    `      ${charges} charges less ${refunds} refunds and ${reserved} pieces in stock balance with them`,
  ].join("\n");
}
