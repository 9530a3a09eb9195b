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
    `held: one order per key and tenant (${orders.length} of ${orders.length}),`,
    `      the same response to every call with a key (${successes} successful responses),`,
    `      one payment and one charge per paid order (${paid} of ${paid}), none for the ${declined} declined ones,`,
    "      every message sent and processed: outbox, queue and dead-letter queue are empty,",
    `      ${parked} messages parked because their queue was missing, ${sentOn} of them sent again by an operator,`,
    sagaLine(sagas, seen),
  ].join("\n");
}

function sagaLine({ length }: Plan["sagas"], seen: Observation["sagas"]): string {
  const { placed, canceled, charges, refunds, reserved } = balanceOf(seen);
  return [
    `      ${length} sagas through ${seen.killed.length} kills: ${placed} orders placed and charged once, ${canceled} undone,`,
    `      ${charges} charges less ${refunds} refunds and ${reserved} reserved pieces balance with them`,
  ].join("\n");
}
