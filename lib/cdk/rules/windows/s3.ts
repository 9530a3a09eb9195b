// Redeliveries from S3 buckets: at least once, and AWS doesn't document for how long.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/EventNotifications.html
import { type App, ownerPath, valueIn } from "../app.ts";
import type { Hop } from "./hop.ts";

/** CDK sets notifications with its own resource type. */
const TYPES = ["AWS::S3::Bucket", "Custom::S3BucketNotifications"];

export function notificationHops(app: App): Hop[] {
  return TYPES.flatMap((type) => app.ofType(type)).flatMap((resource) => {
    const properties = app.propertiesOf(resource);
    const bucket = app.targetIn(valueIn(properties, "BucketName"), "AWS::S3::Bucket") ?? resource;
    const unknown = `S3 doesn't say how long it retries the notifications of ${ownerPath(bucket)}`;
    return app.targetsIn(valueIn(properties, "NotificationConfiguration")).flatMap((into): Hop[] => [
      // The window isn't known, but the rest is still checked.
      { into, window: [], isAsynchronous: true },
      { into, window: { unknown } },
    ]);
  });
}
