// What an operator sees of results in a bucket, and of encrypted ones, with the table alone and with the handler's store.
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { OutcomeUnknownError } from "../../../lib/core/errors.ts";
import { runOnce } from "../../../lib/core/run-once.ts";
import { encrypted } from "../../../lib/stores/encrypted.ts";
import { offloaded } from "../../../lib/stores/offloaded.ts";
import { newBucket } from "../../../test/kit/loopback-bucket.ts";
import { keyService } from "../../../test/stores/privacy-given.ts";
import { actOnKey } from "../lib/console/key-acts.ts";
import { lifeOf } from "../lib/console/key-life.ts";
import { knownKeys } from "../lib/console/known-keys.ts";
import { BY, holding } from "./held-given.ts";
import { newWorld, type World } from "./world.ts";

let world: World;
beforeAll(async () => {
  world = await newWorld();
});

const PAYLOAD = "canary-4711";
const never = () => expect.unreachable("it ran again");

/** A finished key whose result is in a bucket. */
async function inBucket(scope = "acme") {
  const bucket = await newBucket("results");
  vi.stubEnv("AWS_ENDPOINT_URL_S3", `http://127.0.0.1:${bucket.port}`);
  onTestFinished(() => {
    vi.unstubAllEnvs();
  });
  const store = offloaded(world.store, { bucket: "results", client: bucket.client, minBytes: 100 });
  const options = { operation: "report", scope, store, clock: world.clock, leaseSeconds: 30 };
  const key = randomUUID();
  const result = { text: PAYLOAD.repeat(20) };
  await runOnce(options, key, {}, () => result);
  return { ...bucket, options, key, result, named: [key, "-o", "report", "-s", scope] };
}

describe("R9: a result in a bucket", () => {
  it("is shown by its place and size, and printed only on request", async () => {
    const { named, result, requests } = await inBucket();
    const bytes = JSON.stringify(result).length;
    const line = `the result is in S3 (results), ${bytes} bytes`;
    for (const command of ["find", "trace"]) {
      const { text } = await world.run(command, named);
      expect(text).toContain(line);
      expect(text).not.toContain(PAYLOAD);
    }
    const recordKey = (await world.run("find", named)).text.split("\n")[0] as string;
    const table = { store: world.store, outbox: world.outbox } as never;
    expect(JSON.stringify((await lifeOf(table, recordKey, world.clock))?.tree)).toContain(line);
    expect(JSON.parse((await world.run("find", [...named, "--json"])).text)).toMatchObject({
      result: "bucket",
      inBucket: { bucket: "results", bytes },
    });
    const without = await world.run("find", [...named, "--show-result"]);
    expect(without.text).toContain("to print the result, pass --bucket results");
    expect(without.text).not.toContain("bucket.1");
    expect(requests.filter((each) => each.startsWith("GET"))).toEqual([]);
    const shown = await world.run("find", [...named, "--show-result", "--bucket", "results"]);
    expect(shown.text).toContain(`\n${JSON.stringify(result)}`);
    expect((await world.run("trace", [...named, "--bucket", "results"])).text).toContain(line);
  });

  it("H39: is erased with --bucket; without it the command says so and changes nothing", async () => {
    const { named, options, key, objects } = await inBucket();
    const args = [...named, ...BY, "--yes"];
    await expect(world.run("erase", args)).rejects.toThrow(
      /^pass --bucket with .*: this result is in the bucket results/,
    );
    expect(objects.size).toBe(1);
    const dry = await world.run("erase", [...named, ...BY, "--dry-run", "--bucket", "results"]);
    expect(dry.text).toContain("dry run: nothing was written");
    expect(objects.size).toBe(1);
    expect((await world.run("erase", [...args, "--bucket", "results"])).text).toBe("erased");
    expect(objects.size).toBe(0);
    await expect(runOnce(options, key, {}, never)).rejects.toMatchObject({ code: "RESULT_NOT_KEPT" });
  });

  it("H39: is erased with all keys of its owner, and a deletion that failed is reported", async () => {
    const owner = randomUUID();
    const { objects, refuse, accept } = await inBucket(owner);
    const args = ["--scan", "-s", owner, ...BY, "--yes", "--bucket", "results"];
    refuse(403, "AccessDenied");
    const failed = await world.run("erase", args);
    expect([failed.status, failed.text]).toEqual([1, expect.stringContaining("AccessDenied")]);
    accept();
    expect(await world.run("erase", args)).toMatchObject({ status: 0 });
    expect(objects.size).toBe(0);
  });

  it("keeps the evidence free of pointers when its key runs again", async () => {
    const { named, options, key, objects } = await inBucket();
    expect(await world.run("rerun", [...named, ...BY, "--yes"])).toMatchObject({ status: 0 });
    expect((await world.run("find", [...named, "--show-result"])).text).not.toContain("bucket.1");
    await runOnce(options, key, {}, () => ({ text: "y".repeat(200) }));
    expect(objects.size).toBe(2);
    await world.run("erase", [...named, ...BY, "--yes", "--bucket", "results"]);
    expect(objects.size).toBe(0);
  });

  it("an answer that a dry run would put there is shown by its size", async () => {
    const { objects } = await inBucket();
    const key = randomUUID();
    const held = runOnce(holding(world, "charge"), key, {}, () => Promise.reject(new OutcomeUnknownError()));
    await expect(held).rejects.toThrow();
    const args = [key, "-o", "charge", "--happened", JSON.stringify(PAYLOAD.repeat(20_000)), ...BY];
    const { text } = await world.run("resolve", [...args, "--dry-run", "--bucket", "results"]);
    expect(text).toContain('"Body": "<220002 bytes>"');
    expect(text).not.toContain(PAYLOAD);
    expect(objects.size).toBe(1);
  });

  it("refuses a prefix without a bucket", async () => {
    const args = ["key", "-o", "report", "--bucket-prefix", "x/"];
    await expect(world.run("find", args)).rejects.toThrow("--bucket-prefix needs --bucket");
  });
});

describe("a held key whose results are encrypted", () => {
  async function heldKey(error = () => new OutcomeUnknownError()) {
    const store = encrypted(world.store, { keys: keyService() });
    const key = randomUUID();
    const options = { ...holding(world, "charge"), store };
    const held = runOnce(options, key, {}, () => Promise.reject(error()));
    await expect(held).rejects.toThrow();
    return { key, options };
  }

  it("H39: gets no answer in plain text, from the command line or the console", async () => {
    const { key, options } = await heldKey();
    const named = [key, "-o", "charge"];
    const happened = world.run("resolve", [...named, "--happened", `"${PAYLOAD}"`, ...BY, "--yes"]);
    await expect(happened).rejects.toThrow(
      "this key's results are encrypted, and the answer would be stored unencrypted: use `onceonly resolve` with --store",
    );
    const known = knownKeys();
    const recordKey = (await world.run("find", named)).text.split("\n")[0] as string;
    known.remember({ store: world.store, outbox: world.outbox } as never, recordKey);
    const act = {
      act: "happened",
      key: recordKey.split("#")[2],
      answer: `"${PAYLOAD}"`,
      by: "ana",
      why: "x",
    };
    await expect(actOnKey(act as never, known, world.clock)).rejects.toThrow(/results are encrypted/);

    // What stores no answer needs no keys.
    expect(await world.run("resolve", [...named, "--did-not-happen", ...BY, "--yes"])).toMatchObject({
      status: 0,
    });
    expect(await runOnce(options, key, {}, () => "ran")).toBe("ran");
  });
});

describe("without a Region", () => {
  it("says that it's missing, and not that a permission is", async () => {
    for (const name of ["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"]) vi.stubEnv(name, undefined);
    vi.stubEnv("AWS_CONFIG_FILE", "/dev/null");
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const { COMMANDS, runCommand } = await import("../lib/commands.ts");
    const terminal = { print: () => {}, clock: world.clock, env: {}, confirm: async () => undefined };
    const found = runCommand(COMMANDS.find!, ["key", "-o", "charge", "--table", "records"], terminal);
    await expect(found).rejects.toThrow("no AWS Region is set: pass --region, or set AWS_REGION");
  });
});
