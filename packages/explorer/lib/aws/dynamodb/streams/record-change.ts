/** Adds a write to its table's stream. */
import type { DynamoDBService } from "../dynamodb-service.ts";
import type { Table } from "../tables/table.ts";
import type { Item } from "../values/attribute-value.ts";
import { areEqualItems } from "../values/compare-values.ts";
import { itemSize } from "../values/value-size.ts";
import type { StreamViewType, UserIdentity } from "./stream-record.ts";

/** A write that changes nothing leaves no record. */
export function recordChange(
  service: DynamoDBService,
  table: Table,
  former: Item | undefined,
  next: Item | undefined,
  userIdentity: UserIdentity | undefined,
): void {
  const { stream } = table;
  const item = next ?? former;
  if (stream === undefined || item === undefined || areEqualItems(former, next)) return;
  const Keys = table.keyOf(item);
  const images = imagesOf(stream.viewType, former, next);
  stream.add(
    {
      eventID: service.newId(),
      eventName: former === undefined ? "INSERT" : next === undefined ? "REMOVE" : "MODIFY",
      eventVersion: "1.1",
      eventSource: "aws:dynamodb",
      awsRegion: service.options.region,
      dynamodb: {
        ApproximateCreationDateTime: Math.floor(service.now() / 1000),
        Keys,
        ...images,
        SequenceNumber: service.newSequenceNumber(),
        SizeBytes: itemSize(Keys) + itemSize(images.NewImage) + itemSize(images.OldImage),
        StreamViewType: stream.viewType,
      },
      ...(userIdentity && { userIdentity }),
    },
    service.now(),
  );
}

function imagesOf(
  viewType: StreamViewType,
  former: Item | undefined,
  next: Item | undefined,
): { readonly NewImage?: Item; readonly OldImage?: Item } {
  const showsNew = viewType === "NEW_IMAGE" || viewType === "NEW_AND_OLD_IMAGES";
  const showsOld = viewType === "OLD_IMAGE" || viewType === "NEW_AND_OLD_IMAGES";
  return {
    ...(showsNew && next && { NewImage: next }),
    ...(showsOld && former && { OldImage: former }),
  };
}
