// A bucket behind the SDK's own client: what it is asked over HTTP, and what it answers.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { S3 } from "@aws-sdk/client-s3";
import { onTestFinished } from "vitest";

export interface LoopbackBucket {
  readonly client: S3;
  /** By their keys. */
  readonly objects: Map<string, string>;
  /** Methods and keys, in order. */
  readonly requests: string[];
  /** From now on every request is answered so. */
  refuse(status: number, code: string): void;
}

export async function newBucket(name: string): Promise<LoopbackBucket> {
  const objects = new Map<string, string>();
  const requests: string[] = [];
  let refusal: readonly [status: number, code: string] | undefined;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [, bucket, ...path] = new URL(request.url!, "http://s3").pathname.split("/");
    const key = decodeURIComponent(path.join("/"));
    requests.push(`${request.method} ${key}`);
    const answer = (status: number, text = "") => response.writeHead(status).end(text);
    const fail = (status: number, code: string) => answer(status, `<Error><Code>${code}</Code></Error>`);
    if (refusal) fail(...refusal);
    else if (bucket !== name) fail(404, "NoSuchBucket");
    else if (request.method === "PUT") {
      objects.set(key, Buffer.concat(chunks).toString());
      answer(200);
    } else if (objects.has(key)) answer(200, objects.get(key));
    else fail(404, "NoSuchKey");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const client = new S3({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: "eu-central-1",
    forcePathStyle: true,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    maxAttempts: 1,
  });
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return {
    client,
    objects,
    requests,
    refuse(status, code) {
      refusal = [status, code];
    },
  };
}
