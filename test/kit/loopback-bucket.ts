// A bucket behind the SDK's own client: what it is asked over HTTP, and what it answers.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { S3 } from "@aws-sdk/client-s3";
import { onTestFinished } from "vitest";

export interface LoopbackBucket {
  readonly client: S3;
  readonly port: number;
  /** One more client, at another port, such as that of a proxy. */
  clientAt(port: number): S3;
  /** By their keys. */
  readonly objects: Map<string, string>;
  /** Methods and keys, in order. */
  readonly requests: string[];
  /** From now on every request is answered so, until `accept`. */
  refuse(status: number, code: string): void;
  accept(): void;
}

export async function newBucket(name: string): Promise<LoopbackBucket> {
  const objects = new Map<string, string>();
  const requests: string[] = [];
  let refusal: readonly [status: number, code: string] | undefined;
  const listing = (prefix: string) => {
    const versions = [...objects.keys()].filter((key) => key.startsWith(prefix));
    const elements = versions.map((key) => `<Version><Key>${key}</Key><VersionId>null</VersionId></Version>`);
    return `<ListVersionsResult>${elements.join("")}</ListVersionsResult>`;
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer);
    } catch {
      // The client is gone, and waits for no answer.
      return;
    }
    const url = new URL(request.url!, "http://s3");
    const [, bucket, ...path] = url.pathname.split("/");
    const key = decodeURIComponent(path.join("/"));
    requests.push(`${request.method} ${key}`);
    const answer = (status: number, text = "") => response.writeHead(status).end(text);
    const fail = (status: number, code: string) => answer(status, `<Error><Code>${code}</Code></Error>`);
    if (refusal) fail(...refusal);
    else if (bucket !== name) fail(404, "NoSuchBucket");
    else if (request.method === "PUT") {
      objects.set(key, Buffer.concat(chunks).toString());
      answer(200);
    } else if (request.method === "DELETE") {
      objects.delete(key);
      answer(204);
    } else if (url.searchParams.has("versions")) answer(200, listing(url.searchParams.get("prefix") ?? ""));
    else if (objects.has(key)) answer(200, objects.get(key));
    else fail(404, "NoSuchKey");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const clients: S3[] = [];
  const clientAt = (at: number) => {
    const made = new S3({
      endpoint: `http://127.0.0.1:${at}`,
      region: "eu-central-1",
      forcePathStyle: true,
      credentials: { accessKeyId: "local", secretAccessKey: "local" },
      maxAttempts: 1,
    });
    clients.push(made);
    return made;
  };
  onTestFinished(() => {
    for (const made of clients) made.destroy();
    server.close();
  });
  return {
    client: clientAt(port),
    port,
    clientAt,
    objects,
    requests,
    refuse(status, code) {
      refusal = [status, code];
    },
    accept() {
      refusal = undefined;
    },
  };
}
