import { KinesisClient, PutRecordCommand } from "@aws-sdk/client-kinesis";

const kinesis = new KinesisClient({});

export const handler = async (event) => {
  const click = JSON.parse(event.body);
  await kinesis.send(
    new PutRecordCommand({
      StreamName: process.env.CLICKS_STREAM,
      PartitionKey: click.session,
      Data: Buffer.from(JSON.stringify(click)),
    }),
  );
  return { statusCode: 202, body: "" };
};
