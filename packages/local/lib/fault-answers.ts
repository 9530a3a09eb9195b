// The bodies with which DynamoDB refuses a request it did not carry out, in its JSON protocol. Pure.

const NAMESPACE = "com.amazonaws.dynamodb.v20120810";

export interface FaultAnswer {
  readonly __type: string;
  readonly message: string;
  readonly CancellationReasons?: readonly { readonly Code: string; readonly Message?: string }[];
}

export function throttleAnswer(): FaultAnswer {
  return {
    __type: `${NAMESPACE}#ProvisionedThroughputExceededException`,
    message:
      "The level of configured provisioned throughput for the table was exceeded. Consider increasing your provisioning level with the UpdateTable API.",
  };
}

/** A transaction gets the conflict in its cancellation reasons, one for each of its items. */
export function conflictAnswer(operation: string, body: Readonly<Record<string, unknown>>): FaultAnswer {
  const reason = { Code: "TransactionConflict", Message: "Transaction is ongoing for the item" };
  if (operation !== "TransactWriteItems" && operation !== "TransactGetItems") {
    return { __type: `${NAMESPACE}#TransactionConflictException`, message: reason.Message };
  }
  const items = Array.isArray(body.TransactItems) ? body.TransactItems : [];
  const reasons = items.map((_, index) => (index === 0 ? reason : { Code: "None" }));
  return {
    __type: `${NAMESPACE}#TransactionCanceledException`,
    message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${reasons.map(({ Code }) => Code).join(", ")}]`,
    CancellationReasons: reasons,
  };
}
