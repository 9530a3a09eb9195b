// Templates written by hand, so that each behaviour has the smallest one. Nothing here needs a table, so nobody listens
// on the endpoint.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type RunningStack, type StartStackOptions, startStack } from "../../lib/index.ts";
import { assemblyOf, functionResource } from "./given.ts";

const NOBODY = "http://127.0.0.1:9";
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(
  templates: Record<string, object>,
  options: Partial<StartStackOptions> = {},
): Promise<RunningStack> {
  const folder = await assemblyOf(templates);
  cleanups.push(() => rm(folder, { recursive: true }));
  const stack = await startStack({ folder, dynamodbEndpoint: NOBODY, ...options });
  cleanups.push(stack.stop);
  return stack;
}

/** The environment that a function of the stack sees. */
async function environmentOf(stack: RunningStack, path: string): Promise<Record<string, string>> {
  const result = await stack.functions[path]?.host.invoke("{}");
  if (result?.outcome !== "ok") throw new Error(JSON.stringify(result));
  return JSON.parse(JSON.parse(result.payload).body).environment;
}

const echoWith = (Variables: object, more: object = {}) =>
  functionResource("echo.handler", { Environment: { Variables }, ...more });

/** An HTTP API whose every request goes to the function Echo. */
function echoApi(more: object = {}): object {
  const ApiId = { Ref: "Api" };
  return {
    Api: { Type: "AWS::ApiGatewayV2::Api", Properties: { ProtocolType: "HTTP" } },
    Integration: {
      Type: "AWS::ApiGatewayV2::Integration",
      Properties: {
        ApiId,
        IntegrationType: "AWS_PROXY",
        IntegrationUri: { "Fn::GetAtt": ["Echo", "Arn"] },
        PayloadFormatVersion: "2.0",
        ...more,
      },
    },
    Route: {
      Type: "AWS::ApiGatewayV2::Route",
      Properties: { ApiId, RouteKey: "$default", Target: { "Fn::Sub": `integrations/\${Integration}` } },
    },
  };
}

describe("startStack", () => {
  it("names what it does not run: type, construct path, logical id and reason", async () => {
    const stack = await start({
      App: {
        Resources: {
          Bucket: { Type: "AWS::S3::Bucket", Metadata: { "aws:cdk:path": "App/News/Bucket/Resource" } },
          Python: functionResource("main.handler", { Runtime: "python3.13" }),
          Durable: functionResource("index.handler", { DurableConfig: { ExecutionTimeout: 60 } }),
          Search: { Type: "AWS::OpenSearchService::Domain" },
          Custom: { Type: "Custom::Seed" },
          Web: { Type: "AWS::Cognito::UserPool" },
          Socket: { Type: "AWS::ApiGatewayV2::Api", Properties: { ProtocolType: "WEBSOCKET" } },
        },
      },
    });

    expect(stack.notRun).toEqual([
      "AWS::S3::Bucket News/Bucket (Bucket): point functions to your own S3 with AWS_ENDPOINT_URL_S3",
      "AWS::Lambda::Function Python (Python): runtime python3.13 doesn't run, only Node.js does",
      "AWS::Lambda::Function Durable (Durable): durable executions don't run here: run the handler in LocalDurableTestRunner of @aws/durable-execution-sdk-js-testing",
      "AWS::OpenSearchService::Domain Search (Search): the service OpenSearchService has no local counterpart",
      "Custom::Seed Custom (Custom): custom resources don't run, and return no values",
      "AWS::Cognito::UserPool Web (Web): there's no sign-in locally",
      "AWS::ApiGatewayV2::Api Socket (Socket): a WEBSOCKET API",
    ]);
  });

  it("reports nothing about types without a local meaning", async () => {
    const types = ["AWS::IAM::Role", "AWS::Logs::LogGroup", "AWS::Lambda::Permission", "AWS::CDK::Metadata"];

    const stack = await start({
      App: { Resources: Object.fromEntries(types.map((Type, index) => [`R${index}`, { Type }])) },
    });

    expect(stack.notRun).toEqual([]);
  });

  it("gives functions their environment from the template, and the caller's over it", async () => {
    const stack = await start(
      {
        App: {
          Parameters: { Color: { Type: "String", Default: "blue" } },
          Conditions: { IsBlue: { "Fn::Equals": [{ Ref: "Color" }, "blue"] } },
          Resources: {
            Echo: echoWith({
              TABLE: { "Fn::If": ["IsBlue", { Ref: "Color" }, "other"] },
              BUCKET: { Ref: "Bucket" },
            }),
            Bucket: { Type: "AWS::S3::Bucket" },
          },
        },
      },
      { functionEnvironment: { AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:10" } },
    );

    expect(await environmentOf(stack, "Echo")).toEqual({
      table: "blue",
      bucket: "Bucket",
      endpoint: "http://127.0.0.1:10",
    });
  });

  it("uses values for parameters, and asks for those that are missing", async () => {
    const template = {
      Parameters: { Name: { Type: "String" } },
      Resources: { Echo: echoWith({ TABLE: { Ref: "Name" } }) },
    };

    const stack = await start({ App: template }, { parameters: { Name: "given" } });

    expect(await environmentOf(stack, "Echo")).toMatchObject({ table: "given" });
    await expect(start({ App: template })).rejects.toThrow(
      "parameter Name of App has no value: set it with --parameter Name=…",
    );
  });

  it("does not mistake the path of a Parameter Store entry for its value", async () => {
    const Type = "AWS::SSM::Parameter::Value<String>";
    const template = {
      Parameters: { Name: { Type, Default: "/app/name" } },
      Resources: { Echo: echoWith({ TABLE: { Ref: "Name" } }) },
    };

    await expect(start({ App: template })).rejects.toThrow("parameter Name of App has no value: set it");
  });

  it("names what a dynamic reference would read", async () => {
    const stack = await start({
      App: {
        Resources: {
          Echo: echoWith({ TABLE: "{{resolve:ssm:/shop/table}}" }),
        },
      },
    });

    expect(stack.notRun).toEqual([
      "AWS::Lambda::Function Echo (Echo): {{resolve:ssm:/shop/table}} can't be resolved locally and stays as it is",
    ]);
  });

  it("names the resource whose values can't be resolved", async () => {
    const TABLE = { "Fn::Select": [2, ["a", "b"]] };
    const starting = start({ App: { Resources: { Echo: echoWith({ TABLE }) } } });

    await expect(starting).rejects.toThrow("Echo: Fn::Select index 2 is out of range");
  });

  it.each([
    ["Cidr", "Echo: the template uses Fn::Cidr, which isn't supported locally"],
    ["Own", "Unresolved tag: !Own"],
  ])("rejects a short form in YAML that has no meaning here: !%s", async (tag, reported) => {
    const folder = await mkdtemp(join(tmpdir(), "onceonly-test-template-"));
    const { Properties } = functionResource("index.handler") as { Properties: object };
    const text = JSON.stringify({ ...Properties, Environment: { Variables: { A: "TAG" } } });
    cleanups.push(() => rm(folder, { recursive: true }));
    const file = join(folder, "template.yaml");
    await writeFile(
      file,
      `Resources:\n  Echo:\n    Type: AWS::Lambda::Function\n    Properties: ${text.replace('"TAG"', `!${tag} [a]`)}\n`,
    );

    await expect(startStack({ folder: file, dynamodbEndpoint: NOBODY })).rejects.toThrow(reported);
  });

  it("leaves out resources and outputs whose condition does not hold", async () => {
    const stack = await start({
      App: {
        Conditions: { Never: { "Fn::Equals": ["a", "b"] } },
        Resources: { Echo: echoWith({}), Other: { ...echoWith({}), Condition: "Never" } },
        Outputs: { Out: { Value: { Ref: "Other" }, Condition: "Never" }, In: { Value: "x" } },
      },
    });

    expect(Object.keys(stack.functions)).toEqual(["Echo"]);
    expect(stack.outputs).toEqual({ In: "x" });
  });

  it("runs several stacks, with exports between them and their names in the paths", async () => {
    const stack = await start({
      Base: {
        Resources: { Echo: echoWith({}) },
        Outputs: { Name: { Value: "shared", Export: { Name: "Base:Name" } } },
      },
      App: { Resources: { Echo: echoWith({ TABLE: { "Fn::ImportValue": "Base:Name" } }) } },
    });

    expect(Object.keys(stack.functions)).toEqual(["Base/Echo", "App/Echo"]);
    expect(await environmentOf(stack, "App/Echo")).toMatchObject({ table: "shared" });
  });

  it("names the output of another stack that doesn't exist", async () => {
    const TABLE = { "Fn::GetStackOutput": { StackName: "Base", OutputName: "Name" } };
    const starting = start({ Base: { Resources: {} }, App: { Resources: { Echo: echoWith({ TABLE }) } } });

    await expect(starting).rejects.toThrow(
      "App refers to the output Name of Base in us-east-1, which no earlier stack has",
    );
  });

  it("rejects a second function or queue with a name that the app chose, which would answer for the first", async () => {
    const echo = { Resources: { Echo: echoWith({}, { FunctionName: "echo" }) } };
    const jobs = { Resources: { Jobs: { Type: "AWS::SQS::Queue", Properties: { QueueName: "jobs" } } } };

    await expect(start({ Beta: echo, Prod: echo })).rejects.toThrow(
      /^Prod\/Echo is named .*:function:echo, like another resource of this run: select one of the stacks/,
    );
    await expect(start({ Beta: jobs, Prod: jobs })).rejects.toThrow("Prod/Jobs is named jobs");
  });

  it("gives ids that differ only in their last letters separate functions", async () => {
    const id = "Handler".repeat(12);
    const Resources = {
      [`${id}A`]: echoWith({ TABLE: "first" }),
      [`${id}B`]: echoWith({ TABLE: "second" }),
    };
    const stack = await start({ App: { Resources } });

    expect(await environmentOf(stack, `${id}A`)).toMatchObject({ table: "first" });
    expect(new Set(Object.values(stack.functions).map(({ name }) => name)).size).toBe(2);
  });

  it("runs inline code", async () => {
    const ZipFile = "exports.handler = async (event) => event.n + 1";
    const stack = await start({
      App: { Resources: { Inline: functionResource("index.handler", { Code: { ZipFile } }) } },
    });

    expect(await stack.functions.Inline?.host.invoke('{"n":1}')).toMatchObject({
      outcome: "ok",
      payload: "2",
    });
  });

  it("invokes a function through its alias", async () => {
    const FunctionName = { Ref: "Echo" };
    const stack = await start({
      App: {
        Resources: {
          Echo: echoWith({}),
          Version: { Type: "AWS::Lambda::Version", Properties: { FunctionName } },
          Alias: { Type: "AWS::Lambda::Alias", Properties: { FunctionName, Name: "live" } },
          ...echoApi({ IntegrationUri: { Ref: "Alias" } }),
        },
      },
    });

    expect((await fetch(`${stack.url}/anything`)).status).toBe(200);
  });

  it("serves the APIs of two stacks that have the same logical ids", async () => {
    const template = (TABLE: string) => ({ Resources: { Echo: echoWith({ TABLE }), ...echoApi() } });
    const stack = await start({ One: template("first"), Two: template("second") });

    const seen = await Promise.all(
      stack.apis.map(async ({ path, url }) => [path, await (await fetch(url)).json()] as const),
    );

    expect(seen).toMatchObject([
      ["One/Api", { environment: { table: "first" } }],
      ["Two/Api", { environment: { table: "second" } }],
    ]);
  });

  it("turns the address that an API would have on AWS into its own", async () => {
    const address = `https://\${Api}.execute-api.\${AWS::Region}.\${AWS::URLSuffix}/orders`;
    const stack = await start({
      App: {
        Resources: { Echo: echoWith({}), ...echoApi(), Other: echoWith({ TABLE: { "Fn::Sub": address } }) },
        Outputs: { Url: { Value: { "Fn::Sub": address } } },
      },
    });

    expect(stack.outputs.Url).toBe(`${stack.url}/orders`);
    expect(await environmentOf(stack, "Other")).toMatchObject({ table: `${stack.url}/orders` });
  });

  it("answers 500 on routes whose authorizer or integration it does not run, and names them", async () => {
    const ApiId = { Ref: "Api" };
    const stack = await start({
      App: {
        Resources: {
          Api: { Type: "AWS::ApiGatewayV2::Api", Properties: { ProtocolType: "HTTP" } },
          Proxy: {
            Type: "AWS::ApiGatewayV2::Integration",
            Properties: { ApiId, IntegrationType: "HTTP_PROXY", IntegrationUri: "https://example.com" },
          },
          Jwt: { Type: "AWS::ApiGatewayV2::Authorizer", Properties: { ApiId, AuthorizerType: "JWT" } },
          Route: {
            Type: "AWS::ApiGatewayV2::Route",
            Properties: { ApiId, RouteKey: "GET /", Target: { "Fn::Sub": `integrations/\${Proxy}` } },
          },
        },
      },
    });

    expect((await fetch(`${stack.url}`)).status).toBe(500);
    expect(stack.notRun).toEqual([
      "AWS::ApiGatewayV2::Integration Proxy (Proxy): integration type HTTP_PROXY isn't supported locally",
      "AWS::ApiGatewayV2::Authorizer Jwt (Jwt): a JWT authorizer isn't supported locally",
      "AWS::ApiGatewayV2::Route Route (Route): GET / answers 500: integration type HTTP_PROXY isn't supported locally",
    ]);
  });

  it("closes everything already open when a later resource fails", async () => {
    const lines: string[] = [];
    const starting = start(
      {
        App: {
          Resources: {
            Api: { Type: "AWS::ApiGatewayV2::Api", Properties: { ProtocolType: "HTTP" } },
            Echo: echoWith({ TABLE: { "Fn::GetAtt": ["Api", "NoSuchAttribute"] } }),
          },
        },
      },
      { log: (line) => lines.push(line), port: 24_999 },
    );

    await expect(starting).rejects.toThrow("attribute NoSuchAttribute of Api (AWS::ApiGatewayV2::Api)");
    await expect(fetch("http://127.0.0.1:24999")).rejects.toThrow();
  });

  it("refuses a template that only CloudFormation can run", async () => {
    const template = { Transform: ["AWS::Serverless-2016-10-31", "AWS::Include"], Resources: {} };

    await expect(start({ App: template })).rejects.toThrow("uses the transform AWS::Include");
  });

  const READS =
    /pass the folder of a CDK app \(with its cdk\.json\), the cdk\.out .*, or a CloudFormation or SAM template/;

  it.each([
    ["a folder without an app", "test", /^no cdk.json and no template in .*test: /],
    ["a path that doesn't exist", "test/nowhere", /^no cdk.json and no template in .*nowhere: /],
    [
      "a Terraform file",
      "docs/guides/without-cdk/main.tf",
      /^main.tf belongs to Terraform, which can't run here: /,
    ],
    ["the code of an app", "bin/app.ts", /^app.ts isn't a template: /],
    [
      "JSON that isn't a template",
      "tsconfig.json",
      /^tsconfig.json isn't a template because it has no Resources/,
    ],
  ])("B13: rejects %s, and says what it reads", async (_, folder, message) => {
    const starting = startStack({ folder, dynamodbEndpoint: NOBODY }).catch(({ message }) => message);

    expect(await starting).toMatch(message);
    if (folder !== "tsconfig.json") expect(await starting).toMatch(READS);
  });

  it("B13: refuses a folder of Terraform files", async () => {
    const folder = await mkdtemp(join(tmpdir(), "onceonly-test-terraform-"));
    cleanups.push(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "queues.tf"), "");

    await expect(startStack({ folder, dynamodbEndpoint: NOBODY })).rejects.toThrow(
      "queues.tf belongs to Terraform",
    );
  });
});
