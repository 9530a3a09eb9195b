const { execFileSync } = require("node:child_process");
const { PutObjectCommand, S3Client } = require("@aws-sdk/client-s3");

const s3 = new S3Client({});

exports.handler = async ({ video }) => {
  const image = execFileSync(process.env.FFMPEG, ["-version"]);
  await s3.send(
    new PutObjectCommand({ Bucket: process.env.IMAGES_BUCKET, Key: `${video}.png`, Body: image }),
  );
  return { video };
};
