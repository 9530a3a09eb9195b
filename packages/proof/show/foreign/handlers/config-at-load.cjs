const { DynamoDBClient } = require("@aws-sdk/client-dynamodb");
const { DynamoDBDocumentClient, PutCommand } = require("@aws-sdk/lib-dynamodb");
const { GetParameterCommand, SSMClient } = require("@aws-sdk/client-ssm");

const ssm = new SSMClient({});
const db = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const tableName = ssm
  .send(new GetParameterCommand({ Name: process.env.TABLE_PARAMETER }))
  .then(({ Parameter }) => Parameter.Value);

exports.handler = async ({ body }) => {
  const { orderId, amount } = JSON.parse(body);
  await db.send(new PutCommand({ TableName: await tableName, Item: { orderId, amount } }));
  return { statusCode: 201, body: JSON.stringify({ orderId }) };
};
