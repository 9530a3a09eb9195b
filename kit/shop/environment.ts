// What the functions under exploration read from their environment when they are loaded: import this first.
Object.assign(process.env, {
  ORDERS_TABLE: "orders",
  PAYMENTS_TABLE: "payments",
  IDEMPOTENCY_TABLE: "idempotency",
  PAYMENTS_QUEUE_URL: "https://sqs.us-east-1.amazonaws.com/000000000000/payments.fifo",
  IDEMPOTENCY_RETENTION_SECONDS: "86400",
  METRICS_SERVICE: "explored",
  GATEWAY_URL: "https://gateway.example.com",
  GATEWAY_TOKEN: "test-token",
  LEDGER_TABLE: "ledger",
  // Of the token "acme-token".
  TOKEN_DIGESTS: JSON.stringify({ acme: "28daa606f54b368209e11244fd3d5612b41212e822258df22e55afe06a7bdae1" }),
  AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true",
});
