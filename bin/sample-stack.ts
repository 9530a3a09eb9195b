// The sample: an order service that makes one order per key, and a payment service that charges each order
// once. The order, its record and the message between the two commit together; the outbox sends the
// message. A shipping service does all of it in one saga instead, and a fulfilment service in a durable function.
import { CfnOutput, CfnParameter, RemovalPolicy, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { IdempotencyMonitoring, IdempotencyTable, OutboxRelay } from "onceonly/cdk";
import { DEMO_TOKENS } from "./demo-tokens.ts";
import { addFulfilmentService } from "./fulfilment-service.ts";
import { addOrderService } from "./order-service.ts";
import { addPaymentService, addPaymentsQueue, type PaymentGateway } from "./payment-service.ts";
import { addSandboxGateway } from "./sandbox-gateway.ts";
import { addShippingService } from "./shipping-service.ts";

export interface SampleStackProps {
  /**
   * Whether everything, data and logs included, is deleted with the stack, and whether a sandbox handles the
   * payments.
   */
  readonly ephemeral: boolean;
  /** The SHA-256 (hex) of each tenant's bearer token; the tokens themselves stay out of the template. */
  readonly tokenDigests: Readonly<Record<string, string>>;
}

export class SampleStack extends Stack {
  constructor(scope: Construct, id: string, { ephemeral, tokenDigests }: SampleStackProps) {
    super(scope, id);
    const removalPolicy = ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN;
    const service = this.stackName;

    const idempotency = new IdempotencyTable(this, "Idempotency", {
      outbox: true,
      unknownOutcomes: true,
      removalPolicy,
    });
    const common = { idempotency, service, removalPolicy };
    const queue = addPaymentsQueue(this, removalPolicy);
    const { orders, createOrder, api } = addOrderService(this, {
      ...common,
      paymentsQueue: queue,
      tokenDigests,
    });
    const gateway = ephemeral ? addSandboxGateway(this, removalPolicy) : this.#realGateway();
    const chargePayment = addPaymentService(this, { ...common, queue, orders, gateway });
    const placeOrder = addShippingService(this, { ...common, api, orders, gateway });
    const fulfilOrder = addFulfilmentService(this, { ...common, api, orders, gateway });
    const outbox = new OutboxRelay(this, "Outbox", {
      table: idempotency,
      destinations: [queue.queue],
      service,
      logRemovalPolicy: removalPolicy,
    });
    new IdempotencyMonitoring(this, "Monitoring", {
      service,
      table: idempotency,
      operations: ["create-order", "charge-payment", "place-order", "fulfil-order"],
      functions: [createOrder, chargePayment, placeOrder, fulfilOrder],
      relay: outbox.relay,
      sweeper: outbox.sweeper,
      queues: [queue.queue],
      deadLetterQueues: [queue.deadLetterQueue],
    });

    new CfnOutput(this, "Url", { value: api.apiEndpoint });
    if (ephemeral) {
      new CfnOutput(this, "DemoTokens", { value: Object.values(DEMO_TOKENS).join(" ") });
      new CfnOutput(this, "TryIt", { value: curlLine(api.apiEndpoint) });
    }
  }

  /** A real deployment names the gateway's token. The sandbox accepts any caller that has read its token. */
  #realGateway(): PaymentGateway {
    const url = new CfnParameter(this, "PaymentGatewayUrl", {
      description:
        "Address of the payment gateway, without a slash at the end: it answers to GET and POST /charges, POST /refunds and POST /shipments.",
      allowedPattern: "https://.*[^/]",
    });
    const token = new CfnParameter(this, "PaymentGatewayToken", {
      description: "Bearer token for the payment gateway.",
      noEcho: true,
      minLength: 1,
    });
    return { url: url.valueAsString, token: token.valueAsString };
  }
}

function curlLine(url: string): string {
  return [
    `curl -i ${url}/orders`,
    `-H "authorization: Bearer ${DEMO_TOKENS.acme}"`,
    `-H "idempotency-key: order-0001"`,
    `-H "content-type: application/json"`,
    `-d '{"sku":"tea","quantity":2}'`,
  ].join(" ");
}
