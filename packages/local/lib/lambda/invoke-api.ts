// Lambda's Invoke API for a run's functions, so the AWS CLI and SDK can call them.
// https://docs.aws.amazon.com/lambda/latest/api/API_Invoke.html
import type { AwsAnswer, AwsRequest, ServedAws } from "../aws-endpoint.ts";
import type { InvokeResult } from "./invoke-result.ts";

/** The function that a name, an ARN or a part of an ARN means. */
export interface InvokableFunction {
  invoke(payload: string, requestId: string): Promise<InvokeResult>;
  /** Lambda has accepted it; whatever fails is tried again. */
  invokeLater(payload: string, requestId: string): void;
}

const PATH = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;
/** https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html */
const LARGEST_PAYLOAD_BYTES = { RequestResponse: 6_291_456, Event: 1_048_576, DryRun: 6_291_456 } as const;

type InvocationType = keyof typeof LARGEST_PAYLOAD_BYTES;

/** @param find returns `undefined` if no such function runs */
export function invokeService(find: (name: string) => InvokableFunction | undefined): ServedAws {
  return (request) => {
    const [, name] = PATH.exec(request.url.pathname) ?? [];
    if (name === undefined || request.method !== "POST") return undefined;
    return answerInvoke(request, decodeURIComponent(name), find);
  };
}

async function answerInvoke(
  { headers, body, requestId }: AwsRequest,
  name: string,
  find: (name: string) => InvokableFunction | undefined,
): Promise<AwsAnswer> {
  const type = headers["x-amz-invocation-type"] ?? "RequestResponse";
  if (!isInvocationType(type)) {
    return refusal(400, "InvalidParameterValueException", `${type} isn't a Lambda invocation type`);
  }
  const fn = find(name);
  if (!fn) return refusal(404, "ResourceNotFoundException", `Function not found: ${name}`);
  if (body.length > LARGEST_PAYLOAD_BYTES[type]) {
    const limit = LARGEST_PAYLOAD_BYTES[type];
    return refusal(
      413,
      "RequestTooLargeException",
      `${body.length} byte payload is too large for the ${type} invocation type (limit ${limit} bytes)`,
    );
  }
  const payload = body.toString("utf8") || "{}";
  if (!isJson(payload)) {
    return refusal(400, "InvalidRequestContentException", "Could not parse request body into json");
  }
  if (type === "DryRun") return { statusCode: 204 };
  if (type === "Event") {
    fn.invokeLater(payload, requestId);
    return { statusCode: 202 };
  }
  const result = await fn.invoke(payload, requestId);
  return {
    statusCode: 200,
    headers: {
      "content-type": "application/json",
      "x-amz-executed-version": "$LATEST",
      ...(result.outcome !== "ok" && { "x-amz-function-error": "Unhandled" }),
    },
    body: result.payload,
  };
}

function isInvocationType(type: string): type is InvocationType {
  return Object.hasOwn(LARGEST_PAYLOAD_BYTES, type);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function refusal(statusCode: number, errorType: string, message: string): AwsAnswer {
  return {
    statusCode,
    headers: { "content-type": "application/json", "x-amzn-errortype": errorType },
    body: JSON.stringify({ Type: "User", message, Message: message }),
  };
}
