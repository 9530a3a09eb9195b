/**
 * DynamoDB's AWS JSON 1.0 protocol: a header names the operation, and bytes are in base64.
 * https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html
 */
import { DynamoDBError, notSerializable } from "./dynamodb-error.ts";
import type { DynamoDBOperationName } from "./operations.ts";

const TARGET = /^DynamoDB(?:Streams)?_20120810\.(\w+)$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export interface JsonRequest {
  readonly operation: DynamoDBOperationName;
  readonly input: object;
}

export interface JsonAnswer {
  readonly statusCode: number;
  readonly body: string;
}

/** @throws DynamoDBError for anything but a request in this protocol */
export function readJsonRequest(target: string | undefined, body: string): JsonRequest {
  const operation = TARGET.exec(target ?? "")?.[1];
  if (operation === undefined) {
    throw new DynamoDBError("UnknownOperationException", "the x-amz-target header doesn't name an operation");
  }
  let input: unknown;
  try {
    input = JSON.parse(body === "" ? "{}" : body, bytesFromBase64);
  } catch (error) {
    if (error instanceof DynamoDBError) throw error;
    throw notSerializable("the body isn't JSON");
  }
  if (typeof input !== "object" || input === null) throw notSerializable("the body isn't a JSON object");
  return { operation: operation as DynamoDBOperationName, input };
}

export function jsonAnswer(output: unknown): JsonAnswer {
  return { statusCode: 200, body: JSON.stringify(output, base64FromBytes) };
}

export function jsonError(error: DynamoDBError): JsonAnswer {
  const namespace =
    error.name === "ValidationException" ? "com.amazon.coral.validate" : "com.amazonaws.dynamodb.v20120810";
  const body = { __type: `${namespace}#${error.name}`, message: error.message, ...error.details };
  return { statusCode: error.statusCode, body: JSON.stringify(body, base64FromBytes) };
}

/** Only a binary value has a string, or an array of strings, under these names: a map holds values. */
function bytesFromBase64(name: string, value: unknown): unknown {
  if (name === "B" && typeof value === "string") return bytesOf(value);
  if (name === "BS" && Array.isArray(value)) return value.map(bytesOf);
  return value;
}

function base64FromBytes(_name: string, value: unknown): unknown {
  return value instanceof Uint8Array ? Buffer.from(value).toString("base64") : value;
}

function bytesOf(text: unknown): Uint8Array {
  if (typeof text !== "string" || !BASE64.test(text)) throw notSerializable("expected base64-encoded bytes");
  return new Uint8Array(Buffer.from(text, "base64"));
}
