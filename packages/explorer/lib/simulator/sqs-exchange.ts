/** Requests of the AWS SDK to SQS as exchanges. */
import { readSqsRequest, type SqsJsonAnswer, sqsAnswer, sqsErrorAnswer } from "../aws/sqs/json-protocol.ts";
import type { BatchOf, SqsBatchResult } from "../aws/sqs/operations.ts";
import { SQS_ERROR_CODES, SqsError } from "../aws/sqs/sqs-error.ts";
import type { SqsModel } from "../aws/sqs/sqs-model.ts";
import type { Exchange, RefusedEntries } from "./exchange.ts";
import { failedEntries, REFUSED_BY_FAULT, splitEntries } from "./refused-entries.ts";
import type { SdkHttpRequest, SdkHttpResponse } from "./scene.ts";
import { attemptOf, bodyText, brokenConnection, headerOf } from "./sdk-request.ts";

type CommandInput = Readonly<Record<string, unknown>>;

export function sqsExchange(
  request: SdkHttpRequest,
  model: SqsModel,
  envelope: () => Readonly<Record<string, string>>,
): Exchange<SdkHttpResponse> {
  const { operation, input } = readSqsRequest(headerOf(request, "x-amz-target"), bodyText(request));
  const asHttp = ({ statusCode, headers, body }: SqsJsonAnswer): SdkHttpResponse => ({
    statusCode,
    headers: { ...headers, ...envelope() },
    body: new TextEncoder().encode(body),
  });
  const answerOf = async (work: Promise<unknown>): Promise<SdkHttpResponse> => {
    try {
      return asHttp(sqsAnswer(await work));
    } catch (error) {
      if (!(error instanceof SqsError)) throw error;
      return asHttp(sqsErrorAnswer(error));
    }
  };
  const call = (changed: CommandInput) => model.call(operation, changed as never);
  const { QueueUrl, QueueName } = input as { QueueUrl?: string; QueueName?: string };
  return {
    io: {
      service: "sqs",
      operation,
      target: QueueName ?? QueueUrl?.slice(QueueUrl.lastIndexOf("/") + 1) ?? "",
      input: input as CommandInput,
      attempt: attemptOf(request),
    },
    run: () => answerOf(call(input as CommandInput)),
    runWithout: (refused) => answerOf(callWithout(call, input as CommandInput & BatchOf<unknown>, refused)),
    broken: brokenConnection,
    throttled: async () => asHttp(errorAnswer("RequestThrottled", 403)),
    refused: async ({ code, status = 400 }) => asHttp(errorAnswer(code, status)),
    describe: ({ statusCode, headers }) =>
      statusCode === 200 ? "ok" : (headers["x-amzn-query-error"]?.split(";")[0] ?? String(statusCode)),
  };
}

/** Refused entries never reach the queue; the answer adds them to the queue's own results. */
async function callWithout(
  call: (input: CommandInput) => Promise<unknown>,
  { Entries, ...rest }: CommandInput & BatchOf<unknown>,
  fault: RefusedEntries,
): Promise<SqsBatchResult> {
  const { passed, refused } = splitEntries(Entries, fault);
  const answer = (passed.length === 0 ? {} : await call({ ...rest, Entries: passed })) as SqsBatchResult;
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
