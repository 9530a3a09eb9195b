// Where @aws-sdk/client-sqs, an optional peer, is not installed.
import { cp, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { afterEach, describe, expect, it, vi } from "vitest";
import { run } from "../package/run.ts";

const lib = fileURLToPath(new URL("../../lib", import.meta.url));
const queueUrl = "https://sqs.us-east-1.amazonaws.com/000000000000/payments.fifo";
const PAID = { key: "order-7/paid", group: "7", body: "paid" };

afterEach(() => {
  vi.doUnmock("@aws-sdk/client-sqs");
  vi.resetModules();
});

describe("FifoProducer without @aws-sdk/client-sqs", () => {
  it("is constructed, and fails what it is to send", async () => {
    vi.resetModules();
    vi.doMock("@aws-sdk/client-sqs", () => {
      throw new Error("not installed");
    });
    const { FifoProducer } = await import("../../lib/messaging/fifo-producer.ts");

    const producer = new FifoProducer({ queueUrl });

    await new Promise((resolve) => setImmediate(resolve));
    await expect(producer.send(PAID)).rejects.toMatchObject({ code: "SEND_FAILED", retryable: true });
  });

  it("bundles, and names the missing package when it is to send", async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "without-sdk-")));
    const outfile = join(folder, "producer.mjs");
    try {
      for (const part of ["contract.ts", "core", "messaging"]) {
        await cp(join(lib, part), join(folder, "lib", part), { recursive: true });
      }
      await build({
        entryPoints: [join(folder, "lib/messaging/fifo-producer.ts")],
        outfile,
        bundle: true,
        format: "esm",
        platform: "node",
        target: "node20",
        logLevel: "silent",
      });
      const send = `
        import { FifoProducer } from "./producer.mjs";
        const producer = new FifoProducer({ queueUrl: "${queueUrl}" });
        await producer.send(${JSON.stringify(PAID)}).catch(({ failed, cause }) => {
          console.log(failed[0].code, cause.message);
        });`;

      const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", send], folder);

      expect(stdout).toMatch(/^ERR_MODULE_NOT_FOUND .*'@aws-sdk\/client-sqs'/);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
