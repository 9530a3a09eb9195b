// The AWS JSON 1.0 protocol as SQS speaks it: the operation is in a header, and so is, for clients of the former query
// protocol, the code of an error. https://smithy.io/2.0/aws/protocols/aws-query-protocol.html#aws-protocols-awsquerycompatible-trait
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { SqsOperationName, SqsOperations } from "../../testing/sqs/operations.ts";
import { SqsError, type SqsErrorName } from "../../testing/sqs/sqs-error.ts";
import { withBase64, withBytes } from "./binary-values.ts";

export interface SqsRequest {
  readonly operation: SqsOperationName;
  readonly input: SqsOperations[SqsOperationName]["input"];
}

/** Errors that are not in SQS's own model, so that the SDK has no class for them. */
const UNMODELLED: Partial<Record<SqsErrorName, string>> = {
  InvalidParameterValue: "com.amazon.coral.service#InvalidParameterValueException",
  MissingParameter: "com.amazon.coral.service#MissingRequiredParameterException",
  UnknownOperationException: "com.amazon.coral.service#UnknownOperationException",
};

const TARGET = /^AmazonSQS\.(\w+)$/;

/** Throws an SqsError for what is not a request in this protocol. */
export async function readRequest(incoming: IncomingMessage): Promise<SqsRequest> {
  const body = await text(incoming);
  const operation = TARGET.exec(String(incoming.headers["x-amz-target"]))?.[1];
  if (operation === undefined) {
    throw new SqsError(
      "UnknownOperationException",
      "the local SQS speaks the AWS JSON protocol: the header x-amz-target must name the operation",
    );
  }
  return { operation, input: parseInput(body) } as SqsRequest;
}

export function sendAnswer(response: ServerResponse, requestId: string, answer: unknown): void {
  writeJson(response, 200, requestId, withBase64(answer));
}

/** An error that is not SQS's own is a fault of the server, which the SDK may try again. */
export function sendError(response: ServerResponse, requestId: string, error: unknown): void {
  if (!(error instanceof SqsError)) {
    writeJson(response, 500, requestId, { __type: "InternalFailure", message: String(error) });
    return;
  }
  response.setHeader("x-amzn-query-error", `${error.code};Sender`);
  writeJson(response, error.statusCode, requestId, {
    __type: UNMODELLED[error.name] ?? `com.amazonaws.sqs#${error.name}`,
    message: error.message,
  });
}

function writeJson(response: ServerResponse, status: number, requestId: string, body: unknown): void {
  response
    .writeHead(status, { "content-type": "application/x-amz-json-1.0", "x-amzn-requestid": requestId })
    .end(JSON.stringify(body));
}

function parseInput(body: string): unknown {
  try {
    const input: unknown = JSON.parse(body || "{}");
    if (typeof input === "object" && input !== null && !Array.isArray(input)) return withBytes(input);
  } catch {
    // Told below, without the body: it may hold what is secret.
  }
  throw new SqsError("InvalidParameterValue", "the body of the request is not a JSON object");
}
