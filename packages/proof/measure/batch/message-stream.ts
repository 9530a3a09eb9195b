// The messages that all contestants get, the same in every run. A fifth of them is sent a second time under a different
// message id. Pure.
import type { SQSRecord } from "aws-lambda";
import { seededRandom } from "../../show/demo/random.ts";

export const MESSAGES_OF_A_BATCH = 10;
const REPEATS_OF_A_BATCH = 2;
const ORIGINALS_OF_A_BATCH = MESSAGES_OF_A_BATCH - REPEATS_OF_A_BATCH;
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

/** @param concurrency how many batches are processed at the same time */
export function messageStream(batches: number, concurrency: number): readonly SQSRecord[] {
  const random = seededRandom(SEED);
  const stream: SQSRecord[] = [];
  for (let batch = 0; batch < batches; batch++) {
    const ids = Array.from({ length: ORIGINALS_OF_A_BATCH }, (_, index) => idOf(batch, index));
    for (let repeat = 0; repeat < REPEATS_OF_A_BATCH; repeat++) {
      const back = [0, random.integer(1, concurrency - 1), random.integer(LONG_AGO_BATCHES, batch)];
      const from = batch - (back[(batch * REPEATS_OF_A_BATCH + repeat) % back.length] as number);
      ids.push(idOf(from < 0 ? batch : from, random.integer(0, ORIGINALS_OF_A_BATCH - 1)));
    }
    for (const id of random.shuffle(ids)) stream.push(message(stream.length, id));
  }
  return stream;
}

/** The operation's key: in the body, as the producer wrote it. */
export function orderIdOf({ body }: Pick<SQSRecord, "body">): string {
  return (JSON.parse(body) as { orderId: string }).orderId;
}

export function placesOf(stream: readonly SQSRecord[], concurrency: number): Places {
  const places = { sameBatch: 0, nextBatches: 0, later: 0 };
  const firstBatches = new Map<string, number>();
  for (const [index, record] of stream.entries()) {
    const batch = Math.floor(index / MESSAGES_OF_A_BATCH);
    const first = firstBatches.get(orderIdOf(record));
    if (first === undefined) firstBatches.set(orderIdOf(record), batch);
    else if (first === batch) places.sameBatch++;
    else if (batch - first < concurrency) places.nextBatches++;
    else places.later++;
  }
  return places;
}

function idOf(batch: number, index: number): string {
  return `order-${batch * ORIGINALS_OF_A_BATCH + index}`;
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
