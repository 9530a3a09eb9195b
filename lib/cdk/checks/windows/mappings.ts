// For how long an event source mapping of Lambda brings its records again.
import type { CfnResource } from "aws-cdk-lib";
import { ownerPath } from "../event-sources.ts";
import type { Hop, RedeliveryWindow } from "./hop.ts";
import { queueWindow } from "./queues.ts";
import { type ResolvedApp, type TemplateProperties, valueIn } from "./resolved-app.ts";
import { streamIn, streamWindow } from "./streams.ts";

export function mappingHops(app: ResolvedApp): Hop[] {
  return app.ofType("AWS::Lambda::EventSourceMapping").flatMap((mapping) => {
    const properties = app.propertiesOf(mapping);
    const { window, from } = sourceOf(app, mapping, properties);
    return app.targetsIn(valueIn(properties, "FunctionName")).map((into): Hop => ({ from, into, window }));
  });
}

interface MappingSource {
  readonly window: RedeliveryWindow;
  readonly from?: CfnResource | undefined;
}

function sourceOf(app: ResolvedApp, mapping: CfnResource, properties: TemplateProperties): MappingSource {
  const arn = valueIn(properties, "EventSourceArn");
  const path = ownerPath(mapping);
  const queue = app.targetIn(arn, "AWS::SQS::Queue");
  if (queue) return { from: queue, window: queueWindow(app, queue) };
  const { StartingPosition, Queues } = properties;
  if (Queues !== undefined)
    return { window: { unknown: `the broker that ${path} reads keeps messages on its own terms` } };
  // An imported source has nothing but an ARN, and often not even that. Streams and Kafka are read from a position.
  if (StartingPosition === undefined) {
    return { window: { unknown: `the queue that ${path} reads is not made in this app` } };
  }
  return { from: streamIn(app, arn), window: streamWindow(app, arn, path, properties) };
}
