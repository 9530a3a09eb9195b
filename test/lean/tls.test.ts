import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { describe, expect, it, onTestFinished } from "vitest";
import { root } from "../kit/project.ts";
import { selfSignedCertificate } from "../kit/self-signed-certificate.ts";
import { CREDENTIALS, clientOf, GET } from "./world.ts";

async function secureServer() {
  const { keyFile, certificateFile } = await selfSignedCertificate();
  const [key, cert] = await Promise.all([readFile(keyFile), readFile(certificateFile)]);
  const server = createServer({ key, cert }, (request, response) => {
    request.resume().once("end", () => response.end('{"Item":{"pk":{"S":"1"}}}'));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { certificateFile, url: `https://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

describe("an endpoint whose certificate is unknown", () => {
  it("is rejected, immediately and by name", async () => {
    const { url } = await secureServer();

    await expect(clientOf(url).send("GetItem", GET)).rejects.toMatchObject({
      code: "DEPTH_ZERO_SELF_SIGNED_CERT",
      $metadata: { attempts: 1 },
    });
  });

  it("is reached if NODE_EXTRA_CA_CERTS names it", async () => {
    const { url, certificateFile } = await secureServer();
    const folder = await mkdtemp(join(tmpdir(), "lean-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const outfile = join(folder, "main.mjs");
    const options = JSON.stringify({ endpoint: url, region: "eu-central-1", credentials: CREDENTIALS });
    const contents = `
      import { LeanDynamoDB } from "onceonly/lean";
      const client = new LeanDynamoDB(${options});
      console.log(JSON.stringify((await client.send("GetItem", ${JSON.stringify(GET)})).Item));`;
    await build({
      stdin: { contents, resolveDir: root },
      absWorkingDir: root,
      bundle: true,
      platform: "node",
      format: "esm",
      outfile,
    });

    const env = { ...process.env, NODE_EXTRA_CA_CERTS: certificateFile };
    const { stdout } = await promisify(execFile)(process.execPath, [outfile], { env });

    expect(JSON.parse(stdout)).toEqual({ pk: { S: "1" } });
  });
});
