/**
 * SQS's AWS JSON 1.0 protocol. One header names the operation; another carries the code of an error for
 * clients of the older query protocol.
 * https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#aws-protocols-awsquerycompatible-trait
 */
import { withBase64, withBytes } from "./binary-values.ts";
import type { SqsOperationName, SqsOperations } from "./operations.ts";
import { SqsError, type SqsErrorName } from "./sqs-error.ts";

export interface SqsRequest {
  readonly operation: SqsOperationName;
  readonly input: SqsOperations[SqsOperationName]["input"];
}

export interface SqsJsonAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Errors that are missing in SQS's own model: the SDK has no classes for them. */
const UNMODELLED: Partial<Record<SqsErrorName, string>> = {
  InvalidParameterValue: "com.amazon.coral.service#InvalidParameterValueException",
  MissingParameter: "com.amazon.coral.service#MissingRequiredParameterException",
  UnknownOperationException: "com.amazon.coral.service#UnknownOperationException",
};

const TARGET = /^AmazonSQS\.(\w+)$/;

/** @throws SqsError for anything but a request in this protocol */
export function readSqsRequest(target: string | undefined, body: string): SqsRequest {
  const operation = TARGET.exec(target ?? "")?.[1];
  if (operation === undefined) {
    throw new SqsError(
      "UnknownOperationException",
      "this SQS speaks the AWS JSON protocol: the header x-amz-target must name the operation",
    );
  }
  return { operation, input: parseInput(body) } as SqsRequest;
}

export function sqsAnswer(answer: unknown): SqsJsonAnswer {
  return json(200, withBase64(answer));
}

/** Any other error counts as a server error, which the SDK may retry. */
export function sqsErrorAnswer(error: unknown): SqsJsonAnswer {
  if (!(error instanceof SqsError)) {
    return json(500, { __type: "InternalFailure", message: String(error) });
  }
  const __type = UNMODELLED[error.name] ?? `com.amazonaws.sqs#${error.name}`;
  const headers = { "x-amzn-query-error": `${error.code};Sender` };
  return json(error.statusCode, { __type, message: error.message }, headers);
}

function json(statusCode: number, body: unknown, headers: Record<string, string> = {}): SqsJsonAnswer {
  return {
    statusCode,
    headers: { "content-type": "application/x-amz-json-1.0", ...headers },
    body: JSON.stringify(body),
  };
}

function parseInput(body: string): unknown {
  try {
    const input: unknown = JSON.parse(body || "{}");
    if (typeof input === "object" && input !== null && !Array.isArray(input)) return withBytes(input);
  } catch {
    // The error below leaves the body out: the body may hold secrets.
  }
  throw new SqsError("InvalidParameterValue", "the body of the request is not a JSON object");
}
