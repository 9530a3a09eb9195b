// What buckets bring again: at least once, and no page of AWS says for how long.
// https://docs.aws.amazon.com/AmazonS3/latest/userguide/EventNotifications.html
import { type App, ownerPath, valueIn } from "../app.ts";
import type { Hop } from "./hop.ts";

/** CDK sets notifications by a resource of its own. */
const TYPES = ["AWS::S3::Bucket", "Custom::S3BucketNotifications"];

export function notificationHops(app: App): Hop[] {
  return TYPES.flatMap((type) => app.ofType(type)).flatMap((resource) => {
    const properties = app.propertiesOf(resource);
    const bucket = app.targetIn(valueIn(properties, "BucketName"), "AWS::S3::Bucket") ?? resource;
    const unknown = `S3 says no number for how long it repeats the notifications of ${ownerPath(bucket)}`;
    return app.targetsIn(valueIn(properties, "NotificationConfiguration")).flatMap((into): Hop[] => [
      // The rest is checked all the same.
      { into, window: [], isAsynchronous: true },
      { into, window: { unknown } },
    ]);
  });
}
