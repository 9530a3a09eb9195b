// How long a queue may redeliver a message.
import { type App, ownerPath, QUEUE, type Resource } from "../app.ts";
import { settingsOf } from "../queue-settings.ts";
import { isUnknown, type RedeliveryWindow, type Term } from "./hop.ts";

/**
 * Visibility timeout × receives + retention of the queue, plus the same for its dead-letter queue, which may have its own
 * dead-letter queue.
 */
export function queueWindow(app: App, queue: Resource, before: readonly Resource[] = []): RedeliveryWindow {
  const path = ownerPath(queue);
  const { hidden, kept, redrive } = settingsOf(app, queue);
  const waiting: Term = { seconds: kept, text: `${kept} s in ${path}` };
  if (!redrive) return termsOf([waiting], path);
  const deadLetters = app.targetIn(redrive.deadLetters, QUEUE);
  if (!deadLetters) return { unknown: `the dead-letter queue of ${path} isn't defined in this app` };
  if (deadLetters === queue || before.includes(deadLetters)) {
    return { unknown: `the dead-letter queues of ${path} lead back to it` };
  }
  const receiving: Term = {
    seconds: hidden * redrive.receives,
    text: `visibility timeout ${hidden} s × ${redrive.receives} receives`,
  };
  const parked = queueWindow(app, deadLetters, [...before, queue]);
  return isUnknown(parked) ? parked : termsOf([receiving, waiting, ...parked], path);
}

/** How long an operator may redrive a source's dead letters: as long as they're retained. */
export function parkedWindow(app: App, arn: unknown, path: string): RedeliveryWindow {
  if (arn === undefined) return [];
  const queue = app.targetIn(arn, QUEUE);
  if (queue) return queueWindow(app, queue);
  if (app.targetsIn(arn).length > 0) return [];
  return { unknown: `the dead-letter queue of ${path} isn't defined in this app` };
}

function termsOf(terms: readonly Term[], path: string): RedeliveryWindow {
  if (terms.every(({ seconds }) => !Number.isNaN(seconds))) return terms;
  return { unknown: `a number of ${path} or of its dead-letter queue is only known at deployment` };
}
