// The JSON protocol of SQS over Node's HTTP server.
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import {
  readSqsRequest,
  type SqsJsonAnswer,
  type SqsRequest,
  sqsAnswer,
  sqsErrorAnswer,
} from "onceonly-explorer/aws";

/** Throws an SqsError for anything but a request in this protocol. */
export async function readRequest(incoming: IncomingMessage): Promise<SqsRequest> {
  const body = await text(incoming);
  return readSqsRequest(String(incoming.headers["x-amz-target"]), body);
}

export function sendAnswer(response: ServerResponse, requestId: string, answer: unknown): void {
  send(response, requestId, sqsAnswer(answer));
}

export function sendError(response: ServerResponse, requestId: string, error: unknown): void {
  send(response, requestId, sqsErrorAnswer(error));
}

function send(
  response: ServerResponse,
  requestId: string,
  { statusCode, headers, body }: SqsJsonAnswer,
): void {
  response.writeHead(statusCode, { ...headers, "x-amzn-requestid": requestId }).end(body);
}
