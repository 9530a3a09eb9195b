// The payment gateway for trying out: a separate service, with its own API, tokens and ledger.
import type { RemovalPolicy } from "aws-cdk-lib";
import { HttpMethod } from "aws-cdk-lib/aws-apigatewayv2";
import type { Construct } from "constructs";
import { BearerApi, tokenDigestsOf } from "./bearer-api.ts";
import { SANDBOX_TOKENS } from "./demo-tokens.ts";
import type { PaymentGateway } from "./payment-service.ts";
import { PlainFunction } from "./plain-function.ts";
import { SampleTable } from "./sample-table.ts";

export function addSandboxGateway(scope: Construct, removalPolicy: RemovalPolicy): PaymentGateway {
  const ledger = new SampleTable(scope, "Ledger", { partitionKey: "idempotencyKey", removalPolicy });
  const gateway = new PlainFunction(scope, "SandboxGateway", {
    entry: "functions/sandbox-gateway.ts",
    environment: { LEDGER_TABLE: ledger.tableName },
    logRemovalPolicy: removalPolicy,
  });
  ledger.grants.actions(gateway, "dynamodb:UpdateItem");
  const desk = new PlainFunction(scope, "SandboxDesk", {
    entry: "functions/sandbox-desk.ts",
    environment: { LEDGER_TABLE: ledger.tableName },
    logRemovalPolicy: removalPolicy,
  });
  ledger.grants.actions(desk, "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem");

  const tokenDigests = tokenDigestsOf(SANDBOX_TOKENS);
  const api = new BearerApi(scope, "GatewayApi", { tokenDigests, logRemovalPolicy: removalPolicy });
  api.route(HttpMethod.POST, "/charges", gateway);
  api.route(HttpMethod.GET, "/charges", desk);
  api.route(HttpMethod.POST, "/refunds", desk);
  api.route(HttpMethod.POST, "/shipments", desk);
  return { url: api.apiEndpoint, token: SANDBOX_TOKENS.shop };
}
