// Events as their sources send them, as short as the handlers here allow.

export function post(path: string, body: object | string, headers: Readonly<Record<string, string>> = {}) {
  return {
    version: "2.0",
    routeKey: `POST ${path}`,
    rawPath: path,
    rawQueryString: "",
    headers: { "content-type": "application/json", "idempotency-key": "key-1", ...headers },
    requestContext: {
      http: { method: "POST", path, protocol: "HTTP/1.1", sourceIp: "192.0.2.1", userAgent: "curl" },
      domainName: "api.example",
      stage: "$default",
    },
    body: typeof body === "string" ? body : JSON.stringify(body),
    isBase64Encoded: false,
  };
}

export function fromQueue(name: string, ...bodies: readonly object[]) {
  return {
    Records: bodies.map((body, index) => ({
      messageId: `message-${index + 1}`,
      receiptHandle: `receipt-${index + 1}`,
      body: JSON.stringify(body),
      attributes: {
        ApproximateReceiveCount: "1",
        ...(name.endsWith(".fifo") && { MessageGroupId: "one", MessageDeduplicationId: `sent-${index + 1}` }),
      },
      messageAttributes: {},
      eventSource: "aws:sqs",
      eventSourceARN: `arn:aws:sqs:us-east-1:000000000000:${name}`,
      awsRegion: "us-east-1",
    })),
  };
}

/** Of a table's stream: items that were inserted, in DynamoDB's JSON. */
export function inserted(...images: readonly Readonly<Record<string, object>>[]) {
  return {
    Records: images.map((NewImage, index) => ({
      eventID: `${index + 1}`,
      eventName: "INSERT",
      eventSource: "aws:dynamodb",
      eventSourceARN: "arn:aws:dynamodb:us-east-1:000000000000:table/source/stream/2026",
      dynamodb: { SequenceNumber: `${index + 1}`, NewImage },
    })),
  };
}

export function fromKinesis(...values: readonly object[]) {
  return {
    Records: values.map((value, index) => ({
      eventID: `shard:${index + 1}`,
      eventSource: "aws:kinesis",
      eventSourceARN: "arn:aws:kinesis:us-east-1:000000000000:stream/readings",
      kinesis: {
        sequenceNumber: `${index + 1}`,
        partitionKey: "one",
        data: Buffer.from(JSON.stringify(value)).toString("base64"),
      },
    })),
  };
}

export function uploaded(bucket: string, key: string) {
  const s3 = { bucket: { name: bucket }, object: { key, sequencer: "1", eTag: "e", size: 9 } };
  return { Records: [{ eventSource: "aws:s3", eventName: "ObjectCreated:Put", s3 }] };
}

export function notified(message: object) {
  const Sns = { MessageId: "notification-1", Message: JSON.stringify(message), MessageAttributes: {} };
  return { Records: [{ EventSource: "aws:sns", Sns }] };
}

/** Of EventBridge. */
export function onBus(detailType: string, detail: object) {
  return {
    id: "event-1",
    source: "shop",
    "detail-type": detailType,
    time: "2025-12-31T23:59:00Z",
    detail,
  };
}
