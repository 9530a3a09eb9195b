import { PutObjectCommand, S3Client } from "@aws-sdk/client-s3";

const s3 = new S3Client({});

export const handler = async (event) => {
  const key = `uploads/${Date.now()}.jpg`;
  await s3.send(
    new PutObjectCommand({
      Bucket: process.env.PHOTOS_BUCKET,
      Key: key,
      Body: Buffer.from(event.body, "base64"),
      ContentType: "image/jpeg",
    }),
  );
  return { statusCode: 200, body: JSON.stringify({ key }) };
};
