import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";

const s3 = new S3Client({});
const shrink = async (bytes) => bytes.subarray(0, 8);

export const handler = async (event) => {
  for (const record of event.Records) {
    const Bucket = record.s3.bucket.name;
    const Key = decodeURIComponent(record.s3.object.key.replace(/\+/g, " "));

    const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
    const small = await shrink(await Body.transformToByteArray());

    await s3.send(new PutObjectCommand({ Bucket: process.env.THUMBNAILS_BUCKET, Key, Body: small }));
    console.log(`made a thumbnail of ${Bucket}/${Key}`);
  }
};
