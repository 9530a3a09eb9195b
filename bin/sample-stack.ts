// The sample: an order service that gives one order per key. Records and orders in a table each, a function per
// route, a Lambda authorizer that names the tenant, and an HTTP API in front.
import { createHash } from "node:crypto";
import { fileURLToPath } from "node:url";
import { CfnOutput, Duration, RemovalPolicy, Stack } from "aws-cdk-lib";
import { HttpApi, HttpMethod } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaAuthorizer, HttpLambdaResponseType } from "aws-cdk-lib/aws-apigatewayv2-authorizers";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import { AttributeType, Billing, TableV2 } from "aws-cdk-lib/aws-dynamodb";
import { Grant } from "aws-cdk-lib/aws-iam";
import { Architecture, Runtime } from "aws-cdk-lib/aws-lambda";
import { NodejsFunction, OutputFormat } from "aws-cdk-lib/aws-lambda-nodejs";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { IdempotencyTable, UseIdempotency } from "onceonly/cdk";
import { DEMO_TOKENS } from "./demo-tokens.ts";

export interface SampleStackProps {
  /** Whether everything, data included, goes when the stack goes. */
  readonly ephemeral: boolean;
  /** The SHA-256 (hex) of each tenant's bearer token; the tokens themselves stay out of the template. */
  readonly tokenDigests: Readonly<Record<string, string>>;
}

export class SampleStack extends Stack {
  readonly #removalPolicy: RemovalPolicy;

  constructor(scope: Construct, id: string, props: SampleStackProps) {
    super(scope, id);
    this.#removalPolicy = props.ephemeral ? RemovalPolicy.DESTROY : RemovalPolicy.RETAIN;

    const idempotency = new IdempotencyTable(this, "Idempotency", { removalPolicy: this.#removalPolicy });
    const orders = new TableV2(this, "Orders", {
      partitionKey: { name: "tenant", type: AttributeType.STRING },
      sortKey: { name: "id", type: AttributeType.STRING },
      billing: Billing.onDemand(),
      pointInTimeRecoverySpecification: { pointInTimeRecoveryEnabled: true },
      deletionProtection: !props.ephemeral,
      removalPolicy: this.#removalPolicy,
    });

    const createOrder = this.#functionOf("CreateOrder", "create-order", { ORDERS_TABLE: orders.tableName });
    createOrder.with(new UseIdempotency(idempotency));
    // Orders are written together with their record or not at all: a put outside a transaction is refused.
    Grant.addToPrincipal({
      grantee: createOrder,
      actions: ["dynamodb:PutItem"],
      resourceArns: [orders.tableArn],
      conditions: { "ForAnyValue:StringEquals": { "dynamodb:EnclosingOperation": ["TransactWriteItems"] } },
    });

    const getOrder = this.#functionOf("GetOrder", "get-order", { ORDERS_TABLE: orders.tableName });
    orders.grants.actions(getOrder, "dynamodb:GetItem");

    const authorize = this.#functionOf("Authorize", "authorize", {
      TOKEN_DIGESTS: JSON.stringify(props.tokenDigests),
    });

    const api = new HttpApi(this, "Api", {
      defaultAuthorizer: new HttpLambdaAuthorizer("BearerToken", authorize, {
        responseTypes: [HttpLambdaResponseType.SIMPLE],
        resultsCacheTtl: Duration.minutes(1),
      }),
    });
    api.addRoutes({
      path: "/orders",
      methods: [HttpMethod.POST],
      integration: new HttpLambdaIntegration("CreateOrderIntegration", createOrder),
    });
    api.addRoutes({
      path: "/orders/{id}",
      methods: [HttpMethod.GET],
      integration: new HttpLambdaIntegration("GetOrderIntegration", getOrder),
    });

    new CfnOutput(this, "Url", { value: api.apiEndpoint });
    if (props.ephemeral) {
      new CfnOutput(this, "DemoTokens", { value: Object.values(DEMO_TOKENS).join(" ") });
      new CfnOutput(this, "TryIt", { value: curlLine(api.apiEndpoint) });
    }
  }

  #functionOf(id: string, file: string, environment: Record<string, string>): NodejsFunction {
    return new NodejsFunction(this, id, {
      entry: fileURLToPath(new URL(`../functions/${file}.ts`, import.meta.url)),
      runtime: Runtime.NODEJS_24_X,
      architecture: Architecture.ARM_64,
      memorySize: 512,
      timeout: Duration.seconds(5),
      environment,
      logGroup: new LogGroup(this, `${id}Logs`, {
        retention: RetentionDays.ONE_MONTH,
        removalPolicy: this.#removalPolicy,
      }),
      bundling: {
        format: OutputFormat.ESM,
        target: "node22",
        minify: true,
        mainFields: ["module", "main"],
        bundleAwsSDK: true,
      },
    });
  }
}

/** The digest under which the authorizer knows each tenant's token. */
export function tokenDigestsOf(tokens: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(tokens).map(([tenant, token]) => [
      tenant,
      createHash("sha256").update(token).digest("hex"),
    ]),
  );
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
