// For how long a pipe of EventBridge brings what it reads again. A pipe retries as its source does.
// https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-pipes-batching-concurrency.html
import { ownerPath } from "../event-sources.ts";
import type { Hop } from "./hop.ts";
import { queueWindow } from "./queues.ts";
import { objectIn, type ResolvedApp, valueIn } from "./resolved-app.ts";
import { streamIn, streamWindow } from "./streams.ts";

export function pipeHops(app: ResolvedApp): Hop[] {
  return app.ofType("AWS::Pipes::Pipe").flatMap((pipe) => {
    const { Source, SourceParameters, Target, TargetParameters, Enrichment } = app.propertiesOf(pipe);
    const queue = app.targetIn(Source, "AWS::SQS::Queue");
    const { KinesisStreamParameters, DynamoDBStreamParameters } = objectIn(SourceParameters);
    const settings = objectIn(KinesisStreamParameters ?? DynamoDBStreamParameters);
    const window = queue ? queueWindow(app, queue) : streamWindow(app, Source, ownerPath(pipe), settings);
    const from = queue ?? streamIn(app, Source);
    const invocation = valueIn(objectIn(TargetParameters), "LambdaFunctionParameters", "InvocationType");
    const isAsynchronous = invocation === "FIRE_AND_FORGET";
    return [
      ...app.targetsIn(Target).map((into): Hop => ({ from, into, window, isAsynchronous })),
      ...app.targetsIn(Enrichment).map((into): Hop => ({ from, into, window })),
    ];
  });
}
