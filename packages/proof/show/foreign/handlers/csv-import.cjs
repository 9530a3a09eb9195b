const { DynamoDB } = require("@aws-sdk/client-dynamodb");
const { DynamoDBDocument } = require("@aws-sdk/lib-dynamodb");
const { S3 } = require("@aws-sdk/client-s3");

const db = DynamoDBDocument.from(new DynamoDB({}));
const s3 = new S3({});
const { PRODUCTS_TABLE, IMPORTS_TABLE } = process.env;

exports.handler = async ({ Records: [record] }) => {
  const { bucket, object } = record.s3;
  const { Body } = await s3.getObject({ Bucket: bucket.name, Key: object.key });
  const [, ...lines] = (await Body.transformToString()).trim().split("\n");

  for (const line of lines) {
    const [sku, price] = line.split(",");
    await db.put({ TableName: PRODUCTS_TABLE, Item: { sku, price: Number(price) } });
    await db.update({
      TableName: IMPORTS_TABLE,
      Key: { file: object.key },
      UpdateExpression: "ADD imported :one",
      ExpressionAttributeValues: { ":one": 1 },
    });
  }
  return { imported: lines.length };
};
