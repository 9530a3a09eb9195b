/** Requests of the AWS SDK to SQS as exchanges. */
import { readSqsRequest, type SqsJsonAnswer, sqsAnswer, sqsErrorAnswer } from "../sqs/json-protocol.ts";
import { SqsError } from "../sqs/sqs-error.ts";
import type { SqsModel } from "../sqs/sqs-model.ts";
import type { Exchange } from "./exchange.ts";
import type { SdkRequest, SdkResponse } from "./scene.ts";
import { attemptOf, bodyText, brokenConnection, headerOf } from "./sdk-request.ts";

const THROTTLED: SqsJsonAnswer = {
  statusCode: 403,
  headers: {
    "content-type": "application/x-amz-json-1.0",
    "x-amzn-query-error": "RequestThrottled;Sender",
  },
  body: JSON.stringify({
    __type: "com.amazonaws.sqs#RequestThrottled",
    message: "The request was throttled",
  }),
};

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
  const { QueueUrl, QueueName } = input as { QueueUrl?: string; QueueName?: string };
  return {
    io: {
      service: "sqs",
      operation,
      target: QueueName ?? QueueUrl?.slice(QueueUrl.lastIndexOf("/") + 1) ?? "",
      input: input as Readonly<Record<string, unknown>>,
      attempt: attemptOf(request),
    },
    async run() {
      try {
        return asHttp(sqsAnswer(await model.call(operation, input)));
      } catch (error) {
        if (!(error instanceof SqsError)) throw error;
        return asHttp(sqsErrorAnswer(error));
      }
    },
    broken: brokenConnection,
    throttled: async () => asHttp(THROTTLED),
    describe: ({ statusCode, headers }) =>
      statusCode === 200 ? "ok" : (headers["x-amzn-query-error"]?.split(";")[0] ?? String(statusCode)),
  };
}
