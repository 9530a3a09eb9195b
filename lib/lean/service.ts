/** The host, signature and protocol details of an AWS service. */
import { encodeInput, type HttpAnswer, readAnswer } from "../dynamodb/wire/json.ts";

export interface LeanService {
  /** Used in hosts and signatures. */
  readonly name: string;
  /** The environment variable for an endpoint of this service only. */
  readonly endpointVariable:
    | "AWS_ENDPOINT_URL_DYNAMODB"
    | "AWS_ENDPOINT_URL_EVENTBRIDGE"
    | "AWS_ENDPOINT_URL_SCHEDULER"
    | "AWS_ENDPOINT_URL_SNS"
    | "AWS_ENDPOINT_URL_SQS";
  readonly contentType: string;
  /** The header that names the operation, if the protocol uses one. */
  target(operation: string): string | undefined;
  encode(operation: string, input: object): string;
  /** The path of a REST protocol, below the endpoint's. @default - none */
  path?(input: object): string;
  /** @throws the error in the service's answer */
  decode(answer: HttpAnswer, operation: string, input: object): object;
}

/** https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html */
export function jsonService(
  name: string,
  endpointVariable: LeanService["endpointVariable"],
  version: "1.0" | "1.1",
  prefix: string,
): LeanService {
  return {
    name,
    endpointVariable,
    contentType: `application/x-amz-json-${version}`,
    target: (operation) => `${prefix}.${operation}`,
    encode: (_, input) => encodeInput(input),
    decode: readAnswer,
  };
}

export const DYNAMODB = jsonService("dynamodb", "AWS_ENDPOINT_URL_DYNAMODB", "1.0", "DynamoDB_20120810");
