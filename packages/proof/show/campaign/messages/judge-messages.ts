// Finds what is wrong with one commit's messages, when everything was sent and consumed. Pure.
import type { Violation } from "../judge/violation.ts";
import type { Subject } from "../subject.ts";
import type { Rows } from "../tables.ts";
import { MESSAGE_QUEUES } from "./message-queues.ts";

/**
 * @param committed the runs whose effect is there
 * @param consumed by queue, in the order of MESSAGE_QUEUES
 */
export function judgeMessages(
  subject: Subject,
  committed: readonly number[],
  consumed: readonly Rows[],
): Violation[] {
  return consumed.flatMap(({ runs, count, senders }, index): Violation[] => {
    const queue = MESSAGE_QUEUES[index]?.name;
    if (committed.length > 0 && runs.length === 0) {
      return [{ kind: "a message is lost", detail: `queue ${queue}`, subject }];
    }
    const violations: Violation[] = [];
    if (runs.length > 1 || count > 1) {
      const detail = `queue ${queue}, consumed by ${runs.join(", ")}, counted ${count}`;
      violations.push({ kind: "the effect of a message is there twice", detail, subject });
    }
    for (const sender of senders) {
      if (committed.includes(sender)) continue;
      const detail = `queue ${queue}, sent by run ${sender}`;
      violations.push({ kind: "a message of a run that did not commit", detail, subject });
    }
    return violations;
  });
}
