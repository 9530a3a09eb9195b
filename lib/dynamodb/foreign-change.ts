/** Refuses what no relay can work with: changes of another table, and a stream without new images. */
import { PayloadInvalidError } from "../core/errors.ts";

const TABLE_OF_STREAM = /:table\/([^/]+)\/stream\//;
const WITHOUT_NEW_IMAGES = /^(?:KEYS_ONLY|OLD_IMAGE)$/;

/**
 * Other items of the outbox's own table pass: a table may hold more than records. `tableName` is a name or an ARN.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`)
 */
export function refuseForeign(change: unknown, tableName: string): void {
  const { eventSourceARN, dynamodb } = Object(change) as Readonly<Record<string, unknown>>;
  const [, fed] = TABLE_OF_STREAM.exec(`${eventSourceARN}`) ?? [];
  const own = tableName.slice(tableName.lastIndexOf("/") + 1);
  if (fed !== undefined && fed !== own) {
    throw new PayloadInvalidError(
      `the change is of the table ${fed}, and the outbox is of the table ${own}: feed outboxRelay with the stream of ${own}`,
    );
  }
  const { StreamViewType } = Object(dynamodb) as Readonly<Record<string, unknown>>;
  if (!WITHOUT_NEW_IMAGES.test(`${StreamViewType}`)) return;
  throw new PayloadInvalidError(
    `the stream of the table ${own} is of ${StreamViewType}, so that it holds no messages: make it of NEW_IMAGE, or of NEW_AND_OLD_IMAGES`,
  );
}
