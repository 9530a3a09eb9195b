// Tables of a template on every DynamoDB engine that can be run here.
import { rm } from "node:fs/promises";
import {
  CreateTableCommand,
  DeleteTableCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ListTablesCommand,
} from "@aws-sdk/client-dynamodb";
import { afterEach, describe, expect, inject, it } from "vitest";
import { type RunningStack, startStack } from "../../lib/index.ts";
import { assemblyOf } from "./given.ts";

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const PK = { AttributeName: "pk", KeyType: "HASH" } as const;
const textAttribute = (AttributeName: string) => ({ AttributeName, AttributeType: "S" }) as const;

const TEMPLATE = {
  Resources: {
    Records: {
      Type: "AWS::DynamoDB::GlobalTable",
      Properties: {
        KeySchema: [PK, { AttributeName: "sk", KeyType: "RANGE" }],
        AttributeDefinitions: [textAttribute("pk"), textAttribute("sk"), textAttribute("color")],
        BillingMode: "PAY_PER_REQUEST",
        Replicas: [
          { Region: "eu-west-1" },
          { Region: { Ref: "AWS::Region" }, DeletionProtectionEnabled: true },
        ],
        GlobalSecondaryIndexes: [
          {
            IndexName: "by-color",
            KeySchema: [{ AttributeName: "color", KeyType: "HASH" }],
            Projection: { ProjectionType: "KEYS_ONLY" },
            WriteProvisionedThroughputSettings: { WriteCapacityAutoScalingSettings: {} },
          },
        ],
        StreamSpecification: { StreamViewType: "NEW_AND_OLD_IMAGES" },
        TimeToLiveSpecification: { AttributeName: "expiresAt", Enabled: true },
      },
    },
    Plain: {
      Type: "AWS::DynamoDB::Table",
      Properties: {
        TableName: { "Fn::Sub": `\${AWS::StackName}-plain-${process.pid}` },
        KeySchema: [PK],
        AttributeDefinitions: [textAttribute("pk")],
        ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 },
      },
    },
  },
  Outputs: {
    Stream: { Value: { "Fn::GetAtt": ["Records", "StreamArn"] } },
    Arn: { Value: { "Fn::GetAtt": ["Records", "Arn"] } },
  },
};

describe.each(inject("dynamodbEngines"))("tables on $name", ({ endpoint }) => {
  async function start(): Promise<{ stack: RunningStack; client: DynamoDBClient }> {
    const folder = await assemblyOf({ App: TEMPLATE });
    cleanups.push(() => rm(folder, { recursive: true }));
    const client = new DynamoDBClient({
      endpoint,
      region: "us-east-1",
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
    });
    cleanups.push(async () => client.destroy());
    const stack = await startStack({ folder, dynamodbEndpoint: endpoint });
    cleanups.push(stack.stop);
    return { stack, client };
  }

  it("have the keys, indexes, stream and TTL of the template", async () => {
    const { stack, client } = await start();
    const TableName = stack.tables.Records?.name;

    const { Table } = await client.send(new DescribeTableCommand({ TableName }));
    const { TimeToLiveDescription } = await client.send(new DescribeTimeToLiveCommand({ TableName }));

    expect(Table).toMatchObject({
      KeySchema: [PK, { AttributeName: "sk", KeyType: "RANGE" }],
      BillingModeSummary: { BillingMode: "PAY_PER_REQUEST" },
      GlobalSecondaryIndexes: [{ IndexName: "by-color", Projection: { ProjectionType: "KEYS_ONLY" } }],
      StreamSpecification: { StreamEnabled: true, StreamViewType: "NEW_AND_OLD_IMAGES" },
    });
    expect(TimeToLiveDescription).toMatchObject({ AttributeName: "expiresAt", TimeToLiveStatus: "ENABLED" });
    expect(stack.outputs).toEqual({ Stream: Table?.LatestStreamArn, Arn: stack.tables.Records?.arn });
    expect(stack.tables.Records?.streamArn).toBe(Table?.LatestStreamArn);
    expect(stack.notRun).toEqual([
      "AWS::DynamoDB::GlobalTable Records (Records): its replicas (eu-west-1): one local table stands for all of them",
    ]);
  });

  it("use the template's name, or one that no other run has", async () => {
    const { stack } = await start();

    expect(stack.tables.Plain?.name).toBe(`App-plain-${process.pid}`);
    expect(stack.tables.Records?.name).toMatch(/^App-Records-[0-9a-f]{8}$/);
    expect(stack.tables.Plain?.streamArn).toBeUndefined();
  });

  it("go when the run stops, and leave the tables of others alone", async () => {
    const { stack, client } = await start();
    const TableName = `other-${process.pid}`;
    await client.send(
      new CreateTableCommand({
        TableName,
        KeySchema: [PK],
        AttributeDefinitions: [textAttribute("pk")],
        BillingMode: "PAY_PER_REQUEST",
      }),
    );
    const names = async () => (await client.send(new ListTablesCommand())).TableNames;
    const own = Object.values(stack.tables).map(({ name }) => name);
    const during = await names();

    await stack.stop();
    const after = await names();
    await client.send(new DeleteTableCommand({ TableName }));

    expect(during).toEqual(expect.arrayContaining([TableName, ...own]));
    expect(after).toContain(TableName);
    for (const name of own) expect(after).not.toContain(name);
  });

  it("are rejected, and left alone, if one of that name already exists", async () => {
    const { stack, client } = await start();

    await expect(start()).rejects.toThrow(
      `table App-plain-${process.pid} already exists in that DynamoDB: delete it there, or don't set its name`,
    );

    const TableName = stack.tables.Plain?.name;
    expect((await client.send(new DescribeTableCommand({ TableName }))).Table?.TableStatus).toBe("ACTIVE");
  });
});
