import type { APIGatewayProxyEventV2 } from "aws-lambda";

/** The JSON body of a request; `undefined` if there is none. */
export function jsonBody(event: Pick<APIGatewayProxyEventV2, "body" | "isBase64Encoded">): unknown {
  const text = event.isBase64Encoded
    ? Buffer.from(event.body ?? "", "base64").toString()
    : (event.body ?? "");
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
