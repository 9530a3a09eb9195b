// A key service behind the SDK's own client: what it is asked over HTTP, and what it answers.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { KMS } from "@aws-sdk/client-kms";
import { onTestFinished } from "vitest";
import { keyService } from "./privacy-given.ts";

export interface LoopbackKms {
  readonly client: KMS;
  /** What was asked, in order. */
  readonly requests: { readonly action: string; readonly keyId?: string; readonly context: object }[];
  /** From now on each request of such an action is answered so. */
  refuse(action: string, code: string): void;
}

interface KmsRequest {
  readonly KeyId?: string;
  readonly CiphertextBlob?: string;
  readonly EncryptionContext: { readonly operation: string; readonly scope?: string };
}

export async function loopbackKms(): Promise<LoopbackKms> {
  const requests: LoopbackKms["requests"] = [];
  const refusals = new Map<string, string>();
  const keys = keyService();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const asked: KmsRequest = JSON.parse(Buffer.concat(chunks).toString());
    const action = `${request.headers["x-amz-target"]}`.replace("TrentService.", "");
    const { KeyId, EncryptionContext: context } = asked;
    requests.push({ action, ...(KeyId && { keyId: KeyId }), context });
    const answer = (status: number, body: object) =>
      response.writeHead(status, { "content-type": "application/x-amz-json-1.1" }).end(JSON.stringify(body));
    const refusal = refusals.get(action);
    if (refusal) return answer(400, { __type: refusal, message: "no" });
    const { operation, scope = "" } = context;
    if (action === "GenerateDataKey") {
      const { plain, encrypted } = await keys.generate({ operation, scope });
      return answer(200, { Plaintext: base64(plain), CiphertextBlob: base64(encrypted) });
    }
    const plain = await keys.decrypt(Buffer.from(asked.CiphertextBlob ?? "", "base64"), { operation, scope });
    return plain
      ? answer(200, { Plaintext: base64(plain) })
      : answer(400, { __type: "InvalidCiphertextException" });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const client = new KMS({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: "eu-central-1",
    credentials: { accessKeyId: "key", secretAccessKey: "secret" },
    maxAttempts: 1,
  });
  onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  return { client, requests, refuse: (action, code) => refusals.set(action, code) };
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
