// POST /bookings on Express: the seat and the answer are written by one Valkey script.
import { createHash } from "node:crypto";
import type { AddressInfo } from "node:net";
import express from "express";
import { Redis } from "ioredis";
import { TransactionConditionError } from "onceonly";
import { expressIdempotency, keepBody } from "onceonly/http";
import { fromIoredis, ValkeyStore } from "onceonly/valkey";

const { PORT = "3000", VALKEY_URL = "redis://localhost", TOKEN_DIGESTS = "{}" } = process.env;
/** SHA-256 of each token in hex, and the customer it belongs to. */
const customers = new Map(Object.entries<string>(JSON.parse(TOKEN_DIGESTS)));
const redis = new Redis(VALKEY_URL, { commandTimeout: 2000, maxRetriesPerRequest: 1 });
redis.on("error", (error) => console.warn(error.message));
const app = express();

// Authentication comes first, so `scope` reads a verified caller.
app.use((req, res, next) => {
  const token = req.get("authorization")?.replace(/^Bearer /, "") ?? "";
  res.locals.customer = customers.get(createHash("sha256").update(token).digest("hex"));
  if (res.locals.customer === undefined) res.status(401).end();
  else next();
});
// The fingerprint is made of the body's bytes.
app.use(express.json({ verify: keepBody }));

const once = expressIdempotency({
  operation: "book-seat",
  // A write counts when a replica has it, so a failover loses no booking.
  store: new ValkeyStore({ client: fromIoredis(redis), acknowledgedBy: { replicas: 1, timeoutMs: 500 } }),
  scope: ({ res }) => res?.locals.customer,
});

app.post("/bookings", once, async (req, res) => {
  const { commit, scope } = once.executionOf(req);
  const booking = { seat: req.body?.seat, customer: scope };
  if (typeof booking.seat !== "string") return void res.status(400).json({ message: "which seat?" });
  try {
    await commit(
      { statusCode: 201, headers: { "content-type": "application/json" }, body: JSON.stringify(booking) },
      { writes: [{ command: ["SET", `seat:${booking.seat}`, scope], onlyIf: "absent" }] },
    );
    res.status(201).json(booking);
  } catch (error) {
    if (!(error instanceof TransactionConditionError)) throw error;
    res.status(409).json({ message: "the seat is taken" });
  }
});

const server = app.listen(Number(PORT), () =>
  console.log(`listening on ${(server.address() as AddressInfo).port}`),
);
// Requests in progress are finished first: a key that is cut off stays in progress until its lease ends.
process.once("SIGTERM", () => server.close(() => redis.disconnect()));
