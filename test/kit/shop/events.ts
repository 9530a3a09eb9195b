// Events as their sources send them.

export interface HttpEvent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function postOrder(body: object = { sku: "tea", quantity: 2 }, headers: object = {}, tenant = "acme") {
  return {
    version: "2.0",
    routeKey: "POST /orders",
    rawPath: "/orders",
    rawQueryString: "",
    headers: { "content-type": "application/json", "idempotency-key": "order-key-1", ...headers },
    requestContext: {
      http: { method: "POST", path: "/orders", protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "t" },
      domainName: "abc.execute-api.eu-central-1.amazonaws.com",
      stage: "$default",
      authorizer: { lambda: { tenant } },
    },
    body: JSON.stringify(body),
    isBase64Encoded: false,
  };
}

export function getOrder(id: string) {
  const { body: _, ...event } = postOrder();
  return {
    ...event,
    routeKey: "GET /orders/{id}",
    rawPath: `/orders/${id}`,
    pathParameters: { id },
    requestContext: { ...event.requestContext, http: { ...event.requestContext.http, method: "GET" } },
  };
}

export interface SentMessage {
  readonly body: object;
  /** The message group, for a FIFO queue. */
  readonly group?: string;
  /** In the envelope. */
  readonly key?: string;
}

export function messages(queue: string, sent: readonly SentMessage[]) {
  return {
    Records: sent.map(({ body, group, key }, index) => ({
      messageId: `message-${index + 1}`,
      receiptHandle: `receipt-${index + 1}`,
      body: JSON.stringify(body),
      attributes: {
        ApproximateReceiveCount: "1",
        ...(group !== undefined && { MessageGroupId: group, MessageDeduplicationId: `sent-${index + 1}` }),
      },
      messageAttributes:
        key === undefined
          ? {}
          : { OnceonlyEnvelope: { dataType: "String", stringValue: JSON.stringify({ v: 1, key }) } },
      eventSource: "aws:sqs",
      eventSourceARN: `arn:aws:sqs:us-east-1:000000000000:${queue}`,
      awsRegion: "us-east-1",
    })),
  };
}
