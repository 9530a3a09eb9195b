// An HTTP API for bearer tokens only: a Lambda authorizer in front of every route names their owner. The
// API limits its requests a second, and logs each request.
import { createHash } from "node:crypto";
import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import { HttpApi, type HttpMethod, HttpStage, LogGroupLogDestination } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaAuthorizer, HttpLambdaResponseType } from "aws-cdk-lib/aws-apigatewayv2-authorizers";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import { LogGroup, RetentionDays } from "aws-cdk-lib/aws-logs";
import type { Construct } from "constructs";
import { PlainFunction } from "./plain-function.ts";

export interface BearerApiProps {
  /** The SHA-256 (hex) of each owner's token; the tokens themselves stay out of the API. */
  readonly tokenDigests: Readonly<Record<string, string>>;
  /** What happens to its logs when the stack is deleted. */
  readonly logRemovalPolicy: RemovalPolicy;
}

export class BearerApi extends HttpApi {
  constructor(scope: Construct, id: string, { tokenDigests, logRemovalPolicy }: BearerApiProps) {
    const authorize = new PlainFunction(scope, `${id}Authorize`, {
      entry: "functions/authorize.ts",
      environment: { TOKEN_DIGESTS: JSON.stringify(tokenDigests) },
      logRemovalPolicy,
    });
    super(scope, id, {
      defaultAuthorizer: new HttpLambdaAuthorizer("BearerToken", authorize, {
        responseTypes: [HttpLambdaResponseType.SIMPLE],
        resultsCacheTtl: Duration.minutes(1),
      }),
      createDefaultStage: false,
    });
    const accessLogs = new LogGroup(scope, `${id}AccessLogs`, {
      retention: RetentionDays.ONE_MONTH,
      removalPolicy: logRemovalPolicy,
    });
    new HttpStage(this, "Stage", {
      httpApi: this,
      autoDeploy: true,
      throttle: { rateLimit: 100, burstLimit: 200 },
      accessLogSettings: { destination: new LogGroupLogDestination(accessLogs) },
    });
  }

  route(method: HttpMethod, path: string, fn: IFunction): void {
    const integration = new HttpLambdaIntegration(`${fn.node.id}Integration`, fn);
    this.addRoutes({ path, methods: [method], integration });
  }
}

/** The digest under which the authorizer knows each owner's token. */
export function tokenDigestsOf(tokens: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(tokens).map(([owner, token]) => [owner, createHash("sha256").update(token).digest("hex")]),
  );
}
