export const handler = async ({ executionId, customerId, amount }) => {
  const response = await fetch(`${process.env.PAYMENTS_URL}/v1/charges`, {
    method: "POST",
    headers: { "content-type": "application/json", "Idempotency-Key": executionId },
    body: JSON.stringify({ customerId, amount }),
  });
  if (response.status >= 500) {
    const error = new Error("the payment provider is unavailable");
    error.name = "ProviderUnavailable";
    throw error;
  }
  const { chargeId } = await response.json();
  return { chargeId, customerId };
};
