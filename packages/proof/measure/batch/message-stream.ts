// The messages that all contestants get, the same in every run. A fifth of them is sent a second time under a different
// message id. Pure.
import type { SQSRecord } from "aws-lambda";
import { seededRandom } from "../../show/demo/random.ts";

export const MESSAGES_OF_A_BATCH = 10;
const REPEATED_SHARE = 0.2;
/** Many more batches than run at the same time. */
const LONG_AGO_BATCHES = 20;
const SEED = 20;

/** How many duplicates are at each distance from their originals. */
export interface Places {
  readonly sameBatch: number;
  /** In a batch that other invocations may be processing at the same time. */
  readonly nextBatches: number;
  readonly later: number;
}

/**
 * @param concurrency how many batches are processed at the same time
 * @param size messages of a batch
 */
export function messageStream(
  batches: number,
  concurrency: number,
  size = MESSAGES_OF_A_BATCH,
): readonly SQSRecord[] {
  const repeats = size * REPEATED_SHARE;
  const originals = size - repeats;
  const idOf = (batch: number, index: number) => `order-${batch * originals + index}`;
  const random = seededRandom(SEED);
  const stream: SQSRecord[] = [];
  for (let batch = 0; batch < batches; batch++) {
    const ids = Array.from({ length: originals }, (_, index) => idOf(batch, index));
    for (let repeat = 0; repeat < repeats; repeat++) {
      const back = [
        0,
        random.integer(1, Math.max(1, concurrency - 1)),
        random.integer(LONG_AGO_BATCHES, batch),
      ];
      const from = batch - (back[(batch * repeats + repeat) % back.length] as number);
      ids.push(idOf(from < 0 ? batch : from, random.integer(0, originals - 1)));
    }
    for (const id of random.shuffle(ids)) stream.push(message(stream.length, id));
  }
  return stream;
}

/** The operation's key: in the body, as the producer wrote it. */
export function orderIdOf({ body }: Pick<SQSRecord, "body">): string {
  return (JSON.parse(body) as { orderId: string }).orderId;
}

/** How long the handler of an order works: 5 to 50 ms, the same for every contestant. */
export function workMsOf(record: Pick<SQSRecord, "body">): number {
  return 5 + ((Number(orderIdOf(record).replace("order-", "")) * 37) % 46);
}

export function placesOf(
  stream: readonly SQSRecord[],
  concurrency: number,
  size = MESSAGES_OF_A_BATCH,
): Places {
  const places = { sameBatch: 0, nextBatches: 0, later: 0 };
  const firstBatches = new Map<string, number>();
  for (const [index, record] of stream.entries()) {
    const batch = Math.floor(index / size);
    const first = firstBatches.get(orderIdOf(record));
    if (first === undefined) firstBatches.set(orderIdOf(record), batch);
    else if (first === batch) places.sameBatch++;
    else if (batch - first < concurrency) places.nextBatches++;
    else places.later++;
  }
  return places;
}

function message(index: number, orderId: string): SQSRecord {
  const sentAt = String(1_900_000_000_000 + index);
  return {
    messageId: `00000000-0000-4000-8000-${String(index).padStart(12, "0")}`,
    receiptHandle: `receipt-${index}`,
    body: JSON.stringify({ orderId, item: "book", amount: 25 }),
    attributes: {
      ApproximateReceiveCount: "1",
      SentTimestamp: sentAt,
      SenderId: "producer",
      ApproximateFirstReceiveTimestamp: sentAt,
    },
    messageAttributes: {},
    md5OfBody: "",
    eventSource: "aws:sqs",
    eventSourceARN: "arn:aws:sqs:eu-central-1:123456789012:orders",
    awsRegion: "eu-central-1",
  };
}
