// The sample: an order service that gives one order per key, and a payment service that charges each order once. The
// order, its record and the message between the two commit together; relay and sweeper send the message.
import { CfnOutput, CfnParameter, RemovalPolicy, Stack } from "aws-cdk-lib";
import type { Construct } from "constructs";
import { IdempotencyTable } from "onceonly/cdk";
import { DEMO_TOKENS } from "./demo-tokens.ts";
import { addOrderService } from "./order-service.ts";
import { addOutbox } from "./outbox.ts";
import { addPaymentService, addPaymentsQueue, type PaymentGateway } from "./payment-service.ts";
import { addSandboxGateway } from "./sandbox-gateway.ts";

export interface SampleStackProps {
  /** Whether everything, data included, goes when the stack goes; and whether a sandbox takes the payments. */
  readonly ephemeral: boolean;
  /** The SHA-256 (hex) of each tenant's bearer token; the tokens themselves stay out of the template. */
  readonly tokenDigests: Readonly<Record<string, string>>;
}

export class SampleStack extends Stack {
  constructor(scope: Construct, id: string, { ephemeral, tokenDigests }: SampleStackProps) {
    super(scope, id);
    const removalPolicy = ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN;

    const idempotency = new IdempotencyTable(this, "Idempotency", { outbox: true, removalPolicy });
    const queue = addPaymentsQueue(this);
    const { orders, api } = addOrderService(this, {
      idempotency,
      paymentsQueue: queue,
      tokenDigests,
      removalPolicy,
    });
    const gateway = ephemeral ? addSandboxGateway(this, removalPolicy) : this.#realGateway();
    addPaymentService(this, { queue, idempotency, orders, gateway, removalPolicy });
    addOutbox(this, { idempotency, queue, removalPolicy });

    new CfnOutput(this, "Url", { value: api.apiEndpoint });
    if (ephemeral) {
      new CfnOutput(this, "DemoTokens", { value: Object.values(DEMO_TOKENS).join(" ") });
      new CfnOutput(this, "TryIt", { value: curlLine(api.apiEndpoint) });
    }
  }

  /** Whoever deploys for good names it; the sandbox accepts everybody who has read its token. */
  #realGateway(): PaymentGateway {
    const url = new CfnParameter(this, "PaymentGatewayUrl", {
      description: "Address of the payment gateway, without a slash at the end: it answers to POST /charges.",
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
