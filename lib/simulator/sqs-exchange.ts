/** Requests of the AWS SDK to SQS as exchanges. */
import { readSqsRequest, type SqsJsonAnswer, sqsAnswer, sqsErrorAnswer } from "../aws/sqs/json-protocol.ts";
import type { BatchAnswer, BatchOf } from "../aws/sqs/operations.ts";
import { SQS_ERROR_CODES, SqsError } from "../aws/sqs/sqs-error.ts";
import type { SqsModel } from "../aws/sqs/sqs-model.ts";
import type { Exchange, RefusedEntries } from "./exchange.ts";
import { failedEntries, REFUSED_BY_FAULT, splitEntries } from "./refused-entries.ts";
import type { SdkRequest, SdkResponse } from "./scene.ts";
import { attemptOf, bodyText, brokenConnection, headerOf } from "./sdk-request.ts";

type Input = Readonly<Record<string, unknown>>;

export function sqsExchange(
  request: SdkRequest,
  model: SqsModel,
  envelope: () => Readonly<Record<string, string>>,
): Exchange<SdkResponse> {
  const { operation, input } = readSqsRequest(headerOf(request, "x-amz-target"), bodyText(request));
  const asHttp = ({ statusCode, headers, body }: SqsJsonAnswer): SdkResponse => ({
    statusCode,
    headers: { ...headers, ...envelope() },
    body: new TextEncoder().encode(body),
  });
  const answerOf = async (work: Promise<unknown>): Promise<SdkResponse> => {
    try {
      return asHttp(sqsAnswer(await work));
    } catch (error) {
      if (!(error instanceof SqsError)) throw error;
      return asHttp(sqsErrorAnswer(error));
    }
  };
  const call = (changed: Input) => model.call(operation, changed as never);
  const { QueueUrl, QueueName } = input as { QueueUrl?: string; QueueName?: string };
  return {
    io: {
      service: "sqs",
      operation,
      target: QueueName ?? QueueUrl?.slice(QueueUrl.lastIndexOf("/") + 1) ?? "",
      input: input as Input,
      attempt: attemptOf(request),
    },
    run: () => answerOf(call(input as Input)),
    runWithout: (refused) => answerOf(callWithout(call, input as Input & BatchOf<unknown>, refused)),
    broken: brokenConnection,
    throttled: async () => asHttp(errorAnswer("RequestThrottled", 403)),
    refused: async ({ code, status = 400 }) => asHttp(errorAnswer(code, status)),
    describe: ({ statusCode, headers }) =>
      statusCode === 200 ? "ok" : (headers["x-amzn-query-error"]?.split(";")[0] ?? String(statusCode)),
  };
}

/** What is refused never reaches the queue; the answer has it beside what the queue says of the others. */
async function callWithout(
  call: (input: Input) => Promise<unknown>,
  { Entries, ...rest }: Input & BatchOf<unknown>,
  fault: RefusedEntries,
): Promise<BatchAnswer> {
  const { passed, refused } = splitEntries(Entries, fault);
  const answer = (passed.length === 0 ? {} : await call({ ...rest, Entries: passed })) as BatchAnswer;
  const Failed = [...(answer.Failed ?? []), ...failedEntries(refused, fault)];
  return { ...answer, ...(Failed.length > 0 && { Failed }) };
}

function errorAnswer(name: string, statusCode: number): SqsJsonAnswer {
  const code = Object.hasOwn(SQS_ERROR_CODES, name)
    ? SQS_ERROR_CODES[name as keyof typeof SQS_ERROR_CODES]
    : name;
  const fault = statusCode < 500 ? "Sender" : "Receiver";
  return {
    statusCode,
    headers: { "content-type": "application/x-amz-json-1.0", "x-amzn-query-error": `${code};${fault}` },
    body: JSON.stringify({ __type: `com.amazonaws.sqs#${name}`, message: REFUSED_BY_FAULT }),
  };
}
