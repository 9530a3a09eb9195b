// Sends one message per order to a FIFO queue. Sending it again is safe: the consumer knows it by its key.
import { FifoProducer } from "onceonly/messaging";

export interface OrderLine {
  readonly orderId: string;
  readonly sku: string;
  readonly quantity: number;
}

const reservations = new FifoProducer({ queueUrl: process.env.RESERVATIONS_QUEUE_URL });

/** Messages about one article stay in order; different articles are reserved in parallel. */
export const requestReservation = (line: OrderLine) =>
  reservations.send({ key: `${line.orderId}/reserve/${line.sku}`, group: line.sku, body: line });
