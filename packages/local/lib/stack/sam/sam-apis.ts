// SAM's APIs and simple tables as resources of CloudFormation.
import type { TemplateResource } from "../template.ts";
import type { Expansion, SamProperties } from "./expansion.ts";

/** The REST API of functions that name none. */
export const IMPLICIT_REST_API = "ServerlessRestApi";
/** The HTTP API of functions that name none. */
export const IMPLICIT_HTTP_API = "ServerlessHttpApi";

type Fields = Readonly<Record<string, SamProperties>>;

export function expandRestApi(expansion: Expansion, logicalId: string, resource: TemplateResource): void {
  const {
    StageName = "Prod",
    Variables,
    BinaryMediaTypes,
    DefinitionBody,
    DefinitionUri,
    Auth,
    ...rest
  } = resource.Properties ?? {};
  const Body = DefinitionBody ?? DefinitionUri;
  // SAM has a ~1 in the place of each slash.
  const types = [BinaryMediaTypes ?? []].flat().map((type) => String(type).replaceAll("~1", "/"));
  expansion.add(
    logicalId,
    "AWS::ApiGateway::RestApi",
    { Name: rest.Name ?? logicalId, BinaryMediaTypes: types, ...(Body !== undefined && { Body }) },
    resource,
  );
  if (rest.Cors !== undefined) {
    expansion.leaveOut(resource.Type, logicalId, "preflight requests aren't answered: Cors");
  }
  const RestApiId = { Ref: logicalId };
  for (const [type, response] of Object.entries((rest.GatewayResponses ?? {}) as Fields)) {
    const { Headers = {} } = Object(response.ResponseParameters) as { Headers?: Record<string, string> };
    expansion.add(`${logicalId}${type.replaceAll("_", "")}`, "AWS::ApiGateway::GatewayResponse", {
      RestApiId,
      ResponseType: type,
      StatusCode: response.StatusCode,
      ResponseTemplates: response.ResponseTemplates,
      ResponseParameters: Object.fromEntries(
        Object.entries(Headers).map(([name, value]) => [`gatewayresponse.header.${name}`, value]),
      ),
    });
  }
  for (const [name, authorizer] of authorizersOf(expansion, logicalId, Auth)) {
    const { FunctionArn, UserPoolArn, FunctionPayloadType = "TOKEN", Identity } = authorizer;
    const {
      Header = "Authorization",
      Headers,
      QueryStrings,
      ValidationExpression,
      ReauthorizeEvery,
    } = Object(Identity) as SamProperties;
    const isToken = FunctionPayloadType === "TOKEN";
    const names = (part: string, given: unknown) =>
      [given ?? []].flat().map((each) => `method.request.${part}.${each}`);
    const sources = isToken
      ? names("header", Header)
      : [...names("header", Headers), ...names("querystring", QueryStrings)];
    expansion.add(logicalId + name, "AWS::ApiGateway::Authorizer", {
      RestApiId,
      Type: UserPoolArn === undefined ? FunctionPayloadType : "COGNITO_USER_POOLS",
      AuthorizerUri: FunctionArn,
      IdentitySource: sources.join(","),
      IdentityValidationExpression: ValidationExpression,
      AuthorizerResultTtlInSeconds: ReauthorizeEvery,
    });
  }
  expansion.addStage(logicalId, `${logicalId}${String(StageName).replaceAll(/\W/g, "")}Stage`, {
    Type: "AWS::ApiGateway::Stage",
    Properties: { RestApiId, StageName, Variables },
  });
}

export function expandHttpApi(expansion: Expansion, logicalId: string, resource: TemplateResource): void {
  const {
    StageName = "$default",
    StageVariables,
    CorsConfiguration,
    DefinitionBody,
    DefinitionUri,
    Auth,
    Name,
  } = resource.Properties ?? {};
  const Body = DefinitionBody ?? DefinitionUri;
  const isMap = typeof CorsConfiguration === "object";
  if (CorsConfiguration !== undefined && !isMap) {
    expansion.leaveOut(
      resource.Type,
      logicalId,
      "preflight requests aren't answered: CorsConfiguration isn't a map",
    );
  }
  expansion.add(
    logicalId,
    "AWS::ApiGatewayV2::Api",
    {
      Name: Name ?? logicalId,
      ProtocolType: "HTTP",
      ...(isMap && { CorsConfiguration }),
      ...(Body !== undefined && { Body }),
    },
    resource,
  );
  for (const [name, authorizer] of authorizersOf(expansion, logicalId, Auth)) {
    const { FunctionArn, JwtConfiguration, Identity, ...rest } = authorizer;
    const { Headers, QueryStrings, ReauthorizeEvery } = Object(Identity) as SamProperties;
    const names = (part: string, given: unknown) =>
      [given ?? []].flat().map((each) => `$request.${part}.${each}`);
    expansion.add(logicalId + name, "AWS::ApiGatewayV2::Authorizer", {
      ApiId: { Ref: logicalId },
      AuthorizerType: JwtConfiguration === undefined ? "REQUEST" : "JWT",
      AuthorizerUri: FunctionArn,
      IdentitySource: [...names("header", Headers), ...names("querystring", QueryStrings)],
      AuthorizerPayloadFormatVersion: rest.AuthorizerPayloadFormatVersion,
      EnableSimpleResponses: rest.EnableSimpleResponses,
      AuthorizerResultTtlInSeconds: ReauthorizeEvery,
    });
  }
  expansion.add(`${logicalId}Stage`, "AWS::ApiGatewayV2::Stage", {
    ApiId: { Ref: logicalId },
    StageName,
    StageVariables,
  });
}

function authorizersOf(expansion: Expansion, api: string, auth: unknown): [string, SamProperties][] {
  const { DefaultAuthorizer, Authorizers } = Object(auth) as SamProperties;
  if (DefaultAuthorizer !== undefined) expansion.defaultAuthorizers.set(api, String(DefaultAuthorizer));
  return Object.entries((Authorizers ?? {}) as Fields);
}

const KEY_TYPES: Readonly<Record<string, string>> = { String: "S", Number: "N", Binary: "B" };

export function expandTable(expansion: Expansion, logicalId: string, resource: TemplateResource): void {
  const { PrimaryKey, TableName } = resource.Properties ?? {};
  const { Name: AttributeName = "id", Type = "String" } = Object(PrimaryKey) as SamProperties;
  expansion.add(
    logicalId,
    "AWS::DynamoDB::Table",
    {
      ...(TableName !== undefined && { TableName }),
      KeySchema: [{ AttributeName, KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName, AttributeType: KEY_TYPES[String(Type)] }],
    },
    resource,
  );
}
