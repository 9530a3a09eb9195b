// A REST API written by hand: what only its first version has.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { inlineFunction, type StackUnderTest, startTemplate } from "./world.ts";

const cleanups: (() => Promise<void>)[] = [];
const RestApiId = { Ref: "Api" };
const ResourceId = { "Fn::GetAtt": ["Api", "RootResourceId"] };
const functionUri = (arn: string) => ({
  "Fn::Sub": `arn:\${AWS::Partition}:apigateway:\${AWS::Region}:lambda:path/2015-03-31/functions/${arn}/invocations`,
});
const method = (HttpMethod: string, arn: string, more: object = {}) => ({
  Type: "AWS::ApiGateway::Method",
  Properties: {
    RestApiId,
    ResourceId,
    HttpMethod,
    Integration: { Type: "AWS_PROXY", Uri: functionUri(arn) },
    ...more,
  },
});
const byVariable = `arn:aws:lambda:\${AWS::Region}:\${AWS::AccountId}:function:\${!stageVariables.fn}`;
const authorizer = { AuthorizationType: "CUSTOM", AuthorizerId: { Ref: "Guard" } };
const ownWords = (ResponseType: string, more: object) => ({
  Type: "AWS::ApiGateway::GatewayResponse",
  Properties: { RestApiId, ResponseType, ...more },
});
const origin = { "gatewayresponse.header.Access-Control-Allow-Origin": "'*'" };
const returning = (body: string, FunctionName: string) =>
  inlineFunction(`return { statusCode: 200, body: ${body} };`, { FunctionName });
const DependsOn = ["Get", "Post", "Put", "Patch"];

let stack: StackUnderTest;
let url: string;
beforeAll(async () => {
  stack = await startTemplate(
    {
      Api: { Type: "AWS::ApiGateway::RestApi", Properties: { Name: "api" } },
      First: returning("JSON.stringify(['first', event.stageVariables])", "first"),
      Second: returning("JSON.stringify(['second', event.stageVariables])", "second"),
      Ask: inlineFunction(
        `const { pass, from } = event.queryStringParameters ?? {};
         if (event.type !== "REQUEST" || pass === "none") throw new Error("Unauthorized");
         const Statement = [{ Action: "execute-api:Invoke", Effect: pass === "yes" ? "Allow" : "Deny", Resource: event.methodArn }];
         return { principalId: from, policyDocument: { Version: "2012-10-17", Statement }, context: { tier: "gold" } };`,
      ),
      Guard: {
        Type: "AWS::ApiGateway::Authorizer",
        Properties: {
          RestApiId,
          Type: "REQUEST",
          IdentitySource: "method.request.querystring.pass, method.request.querystring.from",
          AuthorizerUri: functionUri(`\${Ask.Arn}`),
        },
      },
      Secret: returning("JSON.stringify(event.requestContext.authorizer)", "secret"),
      Broken: inlineFunction('throw new Error("no")', { FunctionName: "broken" }),
      Get: method("GET", byVariable),
      Post: method("POST", `\${Secret.Arn}`, authorizer),
      Put: method("PUT", `\${Broken.Arn}`),
      Patch: {
        ...method("PATCH", ""),
        Properties: { ...method("PATCH", "").Properties, Integration: { Type: "AWS" } },
      },
      Deployment: { Type: "AWS::ApiGateway::Deployment", Properties: { RestApiId }, DependsOn },
      Beta: {
        Type: "AWS::ApiGateway::Stage",
        Properties: {
          RestApiId,
          StageName: "beta",
          DeploymentId: { Ref: "Deployment" },
          Variables: { fn: "first" },
        },
      },
      Prod: {
        Type: "AWS::ApiGateway::Deployment",
        Properties: { RestApiId, StageName: "prod", StageDescription: { Variables: { fn: "second:live" } } },
        DependsOn: [...DependsOn, "Beta"],
      },
      Bare: {
        Type: "AWS::ApiGateway::Stage",
        Properties: { RestApiId, StageName: "bare", DeploymentId: { Ref: "Prod" } },
      },
      NotFound: ownWords("DEFAULT_4XX", { ResponseParameters: origin }),
      Denied: ownWords("ACCESS_DENIED", {
        StatusCode: "404",
        ResponseTemplates: {
          "application/problem+json":
            '{"title":$context.error.messageString,"type":"$context.error.responseType"}',
        },
      }),
      Failed: ownWords("DEFAULT_5XX", {
        ResponseParameters: { ...origin, "gatewayresponse.header.X-Path": "method.request.path.id" },
        ResponseTemplates: { "application/json": '{"id":"$context.requestId"}' },
      }),
    },
    cleanups,
  );
  url = stack.apis[0]!.url.replace(/beta$/, "");
});
afterAll(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

describe("a REST API", () => {
  it("uses the function from the requested stage's variables", async () => {
    expect(stack.apis[0]?.url).toMatch(/\/beta$/);
    expect(await (await fetch(`${url}beta`)).json()).toEqual(["first", { fn: "first" }]);
    expect(await (await fetch(`${url}prod`)).json()).toEqual(["second", { fn: "second:live" }]);
  });

  it("names what fails in a stage without the variable, and integrations that it does not run", async () => {
    expect((await fetch(`${url}bare`)).status).toBe(502);
    expect((await fetch(`${url}beta`, { method: "PATCH" })).status).toBe(502);
    expect(stack.notRun).toEqual([
      "AWS::ApiGateway::Method Patch (Patch): PATCH / fails: integration type AWS isn't supported locally",
      expect.stringMatching(
        /^AWS::ApiGateway::Stage Bare \(Bare\): GET \/ fails: .*stageVariables\.fn.* isn't a function of this run$/,
      ),
      "AWS::ApiGateway::GatewayResponse Failed (Failed): it's created without gatewayresponse.header.X-Path, $context.requestId",
    ]);
  });

  it("asks a REQUEST authorizer, by all its identity sources, and 401 is its error Unauthorized", async () => {
    const post = (query: string) => fetch(`${url}beta?${query}`, { method: "POST" });

    const allowed = await post("pass=yes&from=joe");
    expect(await allowed.json()).toEqual({ principalId: "joe", tier: "gold" });
    expect((await post("pass=yes")).status).toBe(401);
    expect((await post("pass=none&from=joe")).status).toBe(401);
  });

  it("responds with its customized gateway responses, of their own type first", async () => {
    const denied = await fetch(`${url}beta?pass=no&from=joe`, { method: "POST" });
    const missing = await fetch(`${url}beta/nowhere`);
    const failed = await fetch(`${url}beta`, { method: "PUT" });

    expect(denied.status).toBe(404);
    expect(denied.headers.get("content-type")).toBe("application/problem+json");
    expect(denied.headers.has("access-control-allow-origin")).toBe(false);
    expect(await denied.json()).toEqual({
      title: "User is not authorized to access this resource with an explicit deny",
      type: "ACCESS_DENIED",
    });
    expect(missing.status).toBe(403);
    expect(missing.headers.get("access-control-allow-origin")).toBe("*");
    expect(await missing.json()).toEqual({ message: "Missing Authentication Token" });
    expect(failed.status).toBe(502);
    expect(failed.headers.get("access-control-allow-origin")).toBe("*");
  });
});
