// A bundle of a sender without the clients of the SDK, which are optional peers.
import { cp, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";
import { run } from "../kit/run.ts";

const lib = fileURLToPath(new URL("../../lib", import.meta.url));

const MESSAGES = {
  "@aws-sdk/client-sqs": { queue: "https://sqs.us-east-1.amazonaws.com/000000000000/payments", body: "paid" },
  "@aws-sdk/client-sns": { topic: "arn:aws:sns:us-east-1:000000000000:orders", body: "paid" },
  "@aws-sdk/client-eventbridge": { bus: "orders", source: "shop", detailType: "paid", body: {} },
};

describe("MessageProducer without packages of the SDK", () => {
  it("bundles, and names the missing packages when it is to send", async () => {
    const folder = await realpath(await mkdtemp(join(tmpdir(), "without-sdk-")));
    try {
      for (const part of ["contract.ts", "core", "messaging"]) {
        await cp(join(lib, part), join(folder, "lib", part), { recursive: true });
      }
      await build({
        entryPoints: [join(folder, "lib/messaging/message-producer.ts")],
        outfile: join(folder, "producer.mjs"),
        bundle: true,
        format: "esm",
        platform: "node",
        target: "node20",
        logLevel: "silent",
      });
      const send = `
        import { MessageProducer } from "./producer.mjs";
        const producer = new MessageProducer();
        for (const message of ${JSON.stringify(Object.values(MESSAGES))}) {
          await producer.send({ ...message, key: "order-7/paid" }).catch(({ message }) => console.log(message));
        }`;

      const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", send], folder);

      const said = Object.keys(MESSAGES).map(
        (name) =>
          `could not send 1 of 1 messages (ERR_MODULE_NOT_FOUND): sending these messages needs ${name}: npm install ${name}`,
      );
      expect(stdout.split("\n")).toEqual([...said, ""]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
