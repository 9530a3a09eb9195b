// A request handler in the place of the SDK's: it keeps what is sent, and answers what a test says.
import type { DynamoDBClientConfig } from "@aws-sdk/client-dynamodb";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";

export interface RecordedRequest {
  readonly protocol: string;
  readonly hostname: string;
  readonly port?: number;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface RecordedAnswer {
  readonly status?: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Recorder {
  readonly requests: RecordedRequest[];
  readonly client: DynamoDBClient;
}

export const CREDENTIALS = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "secret", sessionToken: "token" };

/** @param answers of the first requests, or errors in their place; all others succeed, empty */
export function recordRequests(
  config: DynamoDBClientConfig = {},
  answers: readonly (RecordedAnswer | Error)[] = [],
): Recorder {
  const requests: RecordedRequest[] = [];
  const left = [...answers];
  const handle = async (request: RecordedRequest) => {
    requests.push({ ...request, headers: { ...request.headers } });
    const answer = left.shift() ?? {};
    if (answer instanceof Error) throw answer;
    const { status = 200, body = "{}", headers = {} } = answer;
    return {
      response: { statusCode: status, headers: { ...headers }, body: new TextEncoder().encode(body) },
    };
  };
  const requestHandler = {
    handle,
    destroy: () => undefined,
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  };
  const client = new DynamoDBClient({
    region: "eu-central-1",
    credentials: CREDENTIALS,
    ...config,
    requestHandler: requestHandler as never,
  });
  return { requests, client };
}

/** The SDK's middleware alone says who it is in this header as well. */
export function isThroughSdk({ headers }: RecordedRequest): boolean {
  return "x-amz-user-agent" in headers;
}

export function jsonOf({ body }: RecordedRequest): unknown {
  return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body as Uint8Array));
}
