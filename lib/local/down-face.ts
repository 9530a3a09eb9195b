/** Topics that are down: what publishes to one is answered as a service is that cannot be reached. */
import type { AwsFace } from "./aws-endpoint.ts";

const FORM = "application/x-www-form-urlencoded";

export function downFace(isDown: (topicArn: string) => boolean): AwsFace {
  return ({ headers, body }) => {
    if (!headers["content-type"]?.startsWith(FORM)) return undefined;
    const form = new URLSearchParams(body.toString("utf8"));
    const isPublish = /^Publish(Batch)?$/.test(form.get("Action") ?? "");
    return isPublish && isDown(form.get("TopicArn") ?? "") ? Promise.resolve(UNAVAILABLE) : undefined;
  };
}

const UNAVAILABLE = {
  statusCode: 503,
  headers: { "content-type": "text/xml" },
  body: "<ErrorResponse><Error><Type>Receiver</Type><Code>ServiceUnavailable</Code><Message>taken down here</Message></Error></ErrorResponse>",
} as const;
