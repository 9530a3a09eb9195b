// SNS and EventBridge over HTTP: the models, reached through the AWS SDK's protocols.
import {
  EventBridgeError,
  type EventBridgeModel,
  queryAnswer,
  queryError,
  readQueryRequest,
  type SnsModel,
} from "onceonly-explorer/aws";
import type { AwsAnswer, AwsRequest, ServedAws } from "./aws-endpoint.ts";

const TARGET = /^AWSEvents\.(\w+)$/;
const FORM = "application/x-www-form-urlencoded";

export function eventBridgeService(model: EventBridgeModel): ServedAws {
  return (request) => {
    const [, operation] = TARGET.exec(request.headers["x-amz-target"] ?? "") ?? [];
    return operation === undefined ? undefined : answerJson(model, operation, request);
  };
}

async function answerJson(
  model: EventBridgeModel,
  operation: string,
  { body }: AwsRequest,
): Promise<AwsAnswer> {
  const headers = { "content-type": "application/x-amz-json-1.1" };
  try {
    const input = JSON.parse(body.toString("utf8") || "{}");
    const output = await model.call(operation as "PutEvents", input);
    return { statusCode: 200, headers, body: JSON.stringify(output) };
  } catch (error) {
    const known = error instanceof EventBridgeError;
    const { name, message } = known ? error : { name: "InternalException", message: String(error) };
    return {
      statusCode: known ? error.statusCode : 500,
      headers,
      body: JSON.stringify({ __type: name, message }),
    };
  }
}

export function snsService(model: SnsModel): ServedAws {
  return (request) => {
    const isForm = request.headers["content-type"]?.startsWith(FORM);
    return isForm && request.method === "POST" ? answerQuery(model, request) : undefined;
  };
}

async function answerQuery(model: SnsModel, { body, requestId }: AwsRequest): Promise<AwsAnswer> {
  const { operation, input } = readQueryRequest(body.toString("utf8"));
  const answer = await model.call(operation as "Publish", input as never).then(
    (output) => queryAnswer(operation, output, requestId),
    (error: unknown) => queryError(error, requestId),
  );
  return { headers: { "content-type": "text/xml" }, ...answer };
}
