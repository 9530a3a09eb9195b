// Reads the requests of functions without onceonly: no record is written, so orders stand for the records. Pure.
import { orderRecordKey, paymentRecordKey } from "../order-book.ts";
import { ordersIn, type ReadRequest, type WriteBody, writesOf } from "../request-reading.ts";

/** The charging function begins by reading the order, at the point at which onceonly would claim. */
export const readPlainRequests: ReadRequest = ({ operation, body }) => {
  if (operation === "GetItem") {
    const { Key }: WriteBody = body;
    return Key?.id?.S === undefined ? [] : [{ recordKey: paymentRecordKey(Key.id.S), moment: "claim" }];
  }
  const ordered = ordersIn(body).map(orderRecordKey);
  const settled = writesOf(body).flatMap(({ Key }) =>
    Key?.id?.S === undefined ? [] : paymentRecordKey(Key.id.S),
  );
  return [...ordered, ...settled].map((recordKey) => ({ recordKey, moment: "commit" }));
};
