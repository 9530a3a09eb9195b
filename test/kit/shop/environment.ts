// What the sample's functions read from their environment when they are loaded: import this before them.
export const PAYMENTS = "payments.fifo";
export const GATEWAY = "https://gateway.example.com";

Object.assign(process.env, {
  ORDERS_TABLE: "orders",
  PAYMENTS_TABLE: "payments",
  STOCK_TABLE: "stock",
  IDEMPOTENCY_TABLE: "idempotency",
  IDEMPOTENCY_RETENTION_SECONDS: String(14 * 86_400),
  PAYMENTS_QUEUE_URL: `https://sqs.us-east-1.amazonaws.com/000000000000/${PAYMENTS}`,
  METRICS_SERVICE: "orders",
  GATEWAY_URL: GATEWAY,
  GATEWAY_TOKEN: "test-token",
  LEDGER_TABLE: "ledger",
  // The digest of the token "acme-token".
  TOKEN_DIGESTS: JSON.stringify({ acme: "28daa606f54b368209e11244fd3d5612b41212e822258df22e55afe06a7bdae1" }),
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
});
