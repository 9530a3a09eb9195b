// A handler whose three steps charge, book and mail, and an event of our own for it.
import { idempotent } from "onceonly";
import { DynamoDBStore } from "onceonly/dynamodb";

const handler = idempotent(
  async (_event: object, { idempotency }) => {
    const done = () => true;
    await idempotency.step("charge", done);
    await idempotency.step("book", done, { atMostOnce: true });
    await idempotency.step("mail", done);
    return { booked: true };
  },
  { operation: "book", store: new DynamoDBStore({ tableName: "idempotency" }), key: () => "simulated" },
);

// biome-ignore lint/style/noDefaultExport: the command asks for one.
export default { handler, event: { seat: 7 }, options: { name: "book", idempotencyTable: "idempotency" } };
