// Tables: created on the DynamoDB engine with the keys, indexes, stream and TTL of the template. On-demand always,
// one replica always: capacity and regions have no local meaning.
import type {
  CreateTableCommandInput,
  DynamoDBClient,
  StreamSpecification,
  TimeToLiveSpecification,
} from "@aws-sdk/client-dynamodb";
import { requireInstalled } from "../../installed-package.ts";
import type { Deployed, DeployResource } from "../deploy-resource.ts";
import type { ResolvedResource } from "../local-environment.ts";
import {
  LOCAL_ACCOUNT_ID,
  LOCAL_PARTITION,
  type LocalEnvironment,
  notRunLine,
  type StackPlace,
} from "../local-environment.ts";

/** The properties that both types have in common, named as in the template. */
interface TableProperties {
  readonly TableName?: string;
  readonly KeySchema: CreateTableCommandInput["KeySchema"];
  readonly AttributeDefinitions: CreateTableCommandInput["AttributeDefinitions"];
  readonly GlobalSecondaryIndexes?: CreateTableCommandInput["GlobalSecondaryIndexes"];
  readonly LocalSecondaryIndexes?: CreateTableCommandInput["LocalSecondaryIndexes"];
  readonly StreamSpecification?: StreamSpecification;
  readonly TimeToLiveSpecification?: TimeToLiveSpecification;
  /** A global table has one in its own region too. */
  readonly Replicas?: readonly { readonly Region?: unknown }[];
}

async function deployTable(
  resource: ResolvedResource,
  environment: LocalEnvironment,
  { region }: StackPlace,
): Promise<Deployed> {
  const properties = resource.properties as unknown as TableProperties;
  const name = properties.TableName ?? resource.generatedName;
  const sdk = loadSdk();
  const client = new sdk.DynamoDBClient({
    endpoint: environment.dynamodbEndpoint,
    region,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  environment.onStop(async () => client.destroy());
  const streamArn = await createTable(client, name, properties);
  // Only tables created here are deleted: a table that existed before isn't ours to delete.
  if (!environment.dynamodbIsOurs) {
    environment.onStop(async () => void (await client.send(new sdk.DeleteTableCommand({ TableName: name }))));
  }
  if (properties.TimeToLiveSpecification?.Enabled) {
    const { TimeToLiveSpecification } = properties;
    await client.send(new sdk.UpdateTimeToLiveCommand({ TableName: name, TimeToLiveSpecification }));
  }
  const others = (properties.Replicas ?? []).filter((each) => each.Region !== region);
  // A table that is made for one region has itself for its only replica.
  if ((properties.Replicas?.length ?? 0) > 1 && others.length > 0) {
    const regions = others.map((each) => each.Region).join(", ");
    environment.notRun.push(
      notRunLine(resource, `its replicas (${regions}): one local table stands for all of them`),
    );
  }
  const arn = `arn:${LOCAL_PARTITION}:dynamodb:${region}:${LOCAL_ACCOUNT_ID}:table/${name}`;
  environment.tables.set(resource.path, { logicalId: resource.logicalId, name, arn, streamArn });
  return { ref: name, attributes: { Arn: arn, StreamArn: streamArn, TableId: name } };
}

/** Only a run needs the SDK: the command line prints its usage without one. */
const loadSdk = () => requireInstalled<typeof import("@aws-sdk/client-dynamodb")>("@aws-sdk/client-dynamodb");

async function createTable(
  client: DynamoDBClient,
  name: string,
  properties: TableProperties,
): Promise<string | undefined> {
  const { CreateTableCommand } = loadSdk();
  const indexes = properties.GlobalSecondaryIndexes?.map(({ IndexName, KeySchema, Projection }) => ({
    IndexName,
    KeySchema,
    Projection,
  }));
  const stream = properties.StreamSpecification;
  const creation = client.send(
    new CreateTableCommand({
      TableName: name,
      KeySchema: properties.KeySchema,
      AttributeDefinitions: properties.AttributeDefinitions,
      BillingMode: "PAY_PER_REQUEST",
      ...(indexes && { GlobalSecondaryIndexes: indexes }),
      ...(properties.LocalSecondaryIndexes && { LocalSecondaryIndexes: properties.LocalSecondaryIndexes }),
      ...(stream && { StreamSpecification: { StreamEnabled: true, StreamViewType: stream.StreamViewType } }),
    }),
  );
  const { TableDescription } = await creation.catch((error: unknown) => {
    if ((error as Error).name !== "ResourceInUseException") throw error;
    const advice = "delete it there, or don't set its name";
    throw new Error(`table ${name} already exists in that DynamoDB: ${advice}`, { cause: error });
  });
  return TableDescription?.LatestStreamArn;
}

export const TABLE_TYPES: Readonly<Record<string, DeployResource>> = {
  "AWS::DynamoDB::GlobalTable": deployTable,
  "AWS::DynamoDB::Table": deployTable,
};
