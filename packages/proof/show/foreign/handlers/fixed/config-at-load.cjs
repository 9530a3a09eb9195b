const { DynamoDBClient } = require("@aws-sdk/client-dynamodb");
const { DynamoDBDocumentClient, PutCommand } = require("@aws-sdk/lib-dynamodb");
const { GetParameterCommand, SSMClient } = require("@aws-sdk/client-ssm");

const ssm = new SSMClient({});
const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));
let tableName;

async function readTableName() {
  const { Parameter } = await ssm.send(new GetParameterCommand({ Name: process.env.TABLE_PARAMETER }));
  return Parameter.Value;
}

exports.handler = async ({ body }) => {
  const { orderId, amount } = JSON.parse(body);
  tableName ??= await readTableName();
  await db.send(new PutCommand({ TableName: tableName, Item: { orderId, amount } }));
  return { statusCode: 201, body: JSON.stringify({ orderId }) };
};
