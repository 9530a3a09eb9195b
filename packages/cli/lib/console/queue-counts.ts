/** How many messages the queues of a local run hold, and which is whose dead-letter queue. Bodies are not read. */
import type { RunningStack } from "onceonly-local";
import type { QueueLook } from "./look.ts";

const NAMES = [
  "ApproximateNumberOfMessages",
  "ApproximateNumberOfMessagesNotVisible",
  "ApproximateNumberOfMessagesDelayed",
  "RedrivePolicy",
] as const;

export async function queueCounts({ queues, endpoints }: RunningStack): Promise<QueueLook[]> {
  const all = await Promise.all(
    Object.entries(queues).map(async ([path, { url, arn }]) => {
      const input = { QueueUrl: url, AttributeNames: NAMES };
      const { Attributes = {} } = (await askSqs(endpoints.sqs, "GetQueueAttributes", input)) as {
        Attributes?: Readonly<Partial<Record<string, string>>>;
      };
      const count = (name: (typeof NAMES)[number]) => Number(Attributes[name] ?? 0);
      const { deadLetterTargetArn } = JSON.parse(Attributes.RedrivePolicy ?? "{}");
      return {
        path,
        arn,
        deadLetterTargetArn,
        visible: count("ApproximateNumberOfMessages"),
        inFlight: count("ApproximateNumberOfMessagesNotVisible"),
        delayed: count("ApproximateNumberOfMessagesDelayed"),
      };
    }),
  );
  return all.map(({ arn, deadLetterTargetArn, ...queue }) => ({
    ...queue,
    deadLetters: all.find((other) => other.arn === deadLetterTargetArn)?.path,
    deadLettersOf: all.filter((other) => other.deadLetterTargetArn === arn).map(({ path }) => path),
  }));
}

/** The local SQS takes requests without a signature. */
export async function askSqs(endpoint: string, operation: string, input: object): Promise<unknown> {
  const response = await fetch(endpoint, {
    method: "POST",
    headers: { "content-type": "application/x-amz-json-1.0", "x-amz-target": `AmazonSQS.${operation}` },
    body: JSON.stringify(input),
  });
  const answer = await response.json();
  if (response.ok) return answer;
  throw new Error(`the local SQS rejected ${operation}: ${Object(answer).message}`);
}
