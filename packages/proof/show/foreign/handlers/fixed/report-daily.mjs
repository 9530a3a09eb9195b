import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { DynamoDBDocumentClient, paginateScan } from "@aws-sdk/lib-dynamodb";

const client = DynamoDBDocumentClient.from(new DynamoDBClient({}));
const s3 = new S3Client({});

export const handler = async (event) => {
  let total = 0;
  for await (const { Items } of paginateScan({ client }, { TableName: process.env.SALES_TABLE })) {
    for (const { amount } of Items) total += amount;
  }
  const day = event.time.slice(0, 10);
  await s3.send(
    new PutObjectCommand({
      Bucket: process.env.REPORTS_BUCKET,
      Key: `sales/${day}.json`,
      Body: JSON.stringify({ total }),
    }),
  );
};
