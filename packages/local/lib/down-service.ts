/** Topics and event buses that are down: who sends to one is answered as by a service that cannot be reached. */
import type { AwsAnswer, AwsRequest, ServedAws } from "./aws-endpoint.ts";

const FORM = "application/x-www-form-urlencoded";
const PUT_EVENTS = "AWSEvents.PutEvents";

/** @param arnOfBus the ARN of the bus of a name */
export function downService(
  isDown: (destination: string) => boolean,
  arnOfBus: (name: string) => string,
): ServedAws {
  return (request) => {
    const destinations = [...topicOf(request), ...busesOf(request).map(arnOfBusIn)];
    if (!destinations.some(isDown)) return undefined;
    return Promise.resolve(isOfBuses(request) ? UNAVAILABLE_BUS : UNAVAILABLE_TOPIC);
  };

  function arnOfBusIn(name: string): string {
    return name.startsWith("arn:") ? name : arnOfBus(name);
  }
}

function topicOf({ headers, body }: AwsRequest): readonly string[] {
  if (!headers["content-type"]?.startsWith(FORM)) return [];
  const form = new URLSearchParams(body.toString("utf8"));
  return /^Publish(Batch)?$/.test(form.get("Action") ?? "") ? [form.get("TopicArn") ?? ""] : [];
}

const isOfBuses = ({ headers }: AwsRequest): boolean => headers["x-amz-target"] === PUT_EVENTS;

/** None if the body isn't JSON; the service rejects such a body. */
function busesOf(request: AwsRequest): readonly string[] {
  if (!isOfBuses(request)) return [];
  try {
    const { Entries = [] } = JSON.parse(request.body.toString("utf8"));
    return [Entries].flat().map((entry) => `${Object(entry).EventBusName ?? "default"}`);
  } catch {
    return [];
  }
}

const UNAVAILABLE_TOPIC: AwsAnswer = {
  statusCode: 503,
  headers: { "content-type": "text/xml" },
  body: "<ErrorResponse><Error><Type>Receiver</Type><Code>ServiceUnavailable</Code><Message>taken down locally</Message></Error></ErrorResponse>",
};

const UNAVAILABLE_BUS: AwsAnswer = {
  statusCode: 503,
  headers: { "content-type": "application/x-amz-json-1.1" },
  body: JSON.stringify({ __type: "ServiceUnavailable", message: "taken down locally" }),
};
