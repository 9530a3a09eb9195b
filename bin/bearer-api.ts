// An HTTP API that answers to bearer tokens only: a Lambda authorizer in front of every route names their owner.
import { createHash } from "node:crypto";
import { Duration, type RemovalPolicy } from "aws-cdk-lib";
import { HttpApi, type HttpMethod } from "aws-cdk-lib/aws-apigatewayv2";
import { HttpLambdaAuthorizer, HttpLambdaResponseType } from "aws-cdk-lib/aws-apigatewayv2-authorizers";
import { HttpLambdaIntegration } from "aws-cdk-lib/aws-apigatewayv2-integrations";
import type { IFunction } from "aws-cdk-lib/aws-lambda";
import type { Construct } from "constructs";
import { SampleFunction } from "./sample-function.ts";

export interface BearerApiProps {
  /** The SHA-256 (hex) of each owner's token; the tokens themselves stay out of the API. */
  readonly tokenDigests: Readonly<Record<string, string>>;
  readonly removalPolicy: RemovalPolicy;
}

export class BearerApi extends HttpApi {
  constructor(scope: Construct, id: string, { tokenDigests, removalPolicy }: BearerApiProps) {
    const authorize = new SampleFunction(scope, `${id}Authorize`, {
      file: "authorize",
      environment: { TOKEN_DIGESTS: JSON.stringify(tokenDigests) },
      removalPolicy,
    });
    super(scope, id, {
      defaultAuthorizer: new HttpLambdaAuthorizer("BearerToken", authorize, {
        responseTypes: [HttpLambdaResponseType.SIMPLE],
        resultsCacheTtl: Duration.minutes(1),
      }),
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
