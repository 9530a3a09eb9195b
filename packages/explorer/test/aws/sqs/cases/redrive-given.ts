/** Dead letters ready to be redriven, and the report of a redrive. */
import { arnOf, newQueue, recorded, send } from "./case.ts";
import { poison, withDeadLetters } from "./dead-letter-given.ts";
import type { SqsSubject } from "./subject.ts";

export const moves = (test: string) => recorded(test, "test_sqs_move_task.py");

export async function deadLettersOf(sqs: SqsSubject, count: number) {
  const pair = await withDeadLetters(sqs, newQueue, 1);
  for (let index = 0; index < count; index++) await send(sqs, pair.queue, `m${index}`);
  await poison(sqs, pair.queue);
  return { ...pair, SourceArn: await arnOf(sqs, pair.deadLetters) };
}

export async function reportOf(sqs: SqsSubject, SourceArn: string) {
  return (await sqs.call("ListMessageMoveTasks", { SourceArn })).Results[0];
}
