// What the sample's functions read from their environment. Imported before them.
export const PAYMENTS = "payments.fifo";
export const GATEWAY = "https://gateway.example.com";

Object.assign(process.env, {
  ORDERS_TABLE: "orders",
  PAYMENTS_TABLE: "payments",
  IDEMPOTENCY_TABLE: "idempotency",
  IDEMPOTENCY_RETENTION_SECONDS: String(14 * 86_400),
  PAYMENTS_QUEUE_URL: `https://sqs.us-east-1.amazonaws.com/000000000000/${PAYMENTS}`,
  METRICS_SERVICE: "orders",
  GATEWAY_URL: GATEWAY,
  GATEWAY_TOKEN: "token",
});
