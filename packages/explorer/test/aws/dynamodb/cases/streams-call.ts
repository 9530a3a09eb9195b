/** The streams API over its JSON protocol: records hold texts and numbers only in these tests, so no client is needed. */
import type { ModelRequestHandler } from "../../../../lib/aws/dynamodb/request-handler.ts";

interface Answer {
  readonly isError: boolean;
  readonly body: Readonly<Record<string, unknown>>;
}

export type SendJson = (target: string, body: string) => Promise<Answer>;

/** Engines want a signature to be there, and do not check it. */
const AUTHORIZATION =
  "AWS4-HMAC-SHA256 Credential=local/20300101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0";

export async function streamsCall(send: SendJson, operation: string, input: object): Promise<unknown> {
  const { isError, body } = await send(`DynamoDBStreams_20120810.${operation}`, JSON.stringify(input));
  if (!isError) return body;
  throw Object.assign(new Error(String(body.message)), { name: String(body.__type).replace(/^.*#/, "") });
}

export function overHttp(endpoint: string): SendJson {
  return async (target, body) => {
    const response = await fetch(endpoint, {
      method: "POST",
      headers: {
        authorization: AUTHORIZATION,
        "content-type": "application/x-amz-json-1.0",
        "x-amz-date": "20300101T000000Z",
        "x-amz-target": target,
      },
      body,
    });
    return { isError: !response.ok, body: (await response.json()) as Answer["body"] };
  };
}

export function overModel(handler: ModelRequestHandler): SendJson {
  return async (target, body) => {
    const { response } = await handler.handle({ headers: { "x-amz-target": target }, body });
    return {
      isError: response.statusCode !== 200,
      body: JSON.parse(new TextDecoder().decode(response.body)),
    };
  };
}
