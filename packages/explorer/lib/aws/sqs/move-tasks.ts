/** StartMessageMoveTask and ListMessageMoveTasks. https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_StartMessageMoveTask.html */
import type { SqsHandler } from "./handler.ts";
import { MoveTaskRun } from "./move-task.ts";
import type { Queue } from "./queue.ts";
import type { SqsService } from "./service.ts";
import { invalidParameter, invalidValue, SqsError } from "./sqs-error.ts";

const MAX_RATE = 500;
const MAX_LISTED = 10;

export const startMessageMoveTask: SqsHandler<"StartMessageMoveTask"> = (service, task) => {
  const { SourceArn, DestinationArn, MaxNumberOfMessagesPerSecond: rate } = task;
  const source = queueOf(service, "SourceArn", SourceArn);
  if (service.sourcesOf(source).length === 0) {
    throw invalidParameter("Source queue must be configured as a Dead Letter Queue.");
  }
  if (DestinationArn !== undefined) {
    const destination = queueOf(service, "DestinationArn", DestinationArn);
    if (destination.isFifo !== source.isFifo) {
      throw invalidParameter("Source queue and destination queue must be of the same type.");
    }
  }
  if (rate !== undefined && !(Number.isInteger(rate) && rate >= 1 && rate <= MAX_RATE)) {
    throw invalidValue(
      "MaxNumberOfMessagesPerSecond",
      rate,
      `Must be between 1 and ${MAX_RATE}, if provided.`,
    );
  }
  if (service.moveTasks.some((each) => each.isRunning && each.report().SourceArn === SourceArn)) {
    throw invalidParameter(
      "There is already a task running. Only one active task is allowed for a source queue arn at a given time.",
    );
  }
  const run = new MoveTaskRun(service, task, source);
  service.moveTasks.unshift(run);
  void run.run(service, source);
  return { TaskHandle: run.handle };
};

export const listMessageMoveTasks: SqsHandler<"ListMessageMoveTasks"> = (
  service,
  { SourceArn, MaxResults = 1 },
) => {
  queueOf(service, "SourceArn", SourceArn);
  if (!(MaxResults >= 1 && MaxResults <= MAX_LISTED)) {
    throw invalidValue("MaxResults", MaxResults, `Must be between 1 and ${MAX_LISTED}, if provided.`);
  }
  const reports = service.moveTasks.map((run) => run.report());
  return { Results: reports.filter((report) => report.SourceArn === SourceArn).slice(0, MaxResults) };
};

function queueOf(service: SqsService, parameter: string, arn: string): Queue {
  const queue = service.findByArn(arn);
  if (queue !== undefined) return queue;
  throw new SqsError(
    "ResourceNotFoundException",
    `The resource that you specified for the ${parameter} parameter doesn't exist.`,
  );
}
