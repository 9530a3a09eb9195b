import { writeFile } from "node:fs/promises";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { availableDynamoDBEngines, DYNAMODB_ENGINES, startDynamoDB } from "../lib/dynamodb-engine.ts";
import { type DynamoDBInstallations, dynamodbInstallations } from "../lib/dynamodb-installations.ts";
import type { EngineCommand } from "../lib/engine-process.ts";
import { answers } from "./given.ts";
import { folderWith } from "./lambda/given.ts";

const NOTHING: DynamoDBInstallations = {
  dynamodbLocal: async () => undefined,
  dynoxide: async () => undefined,
};

/** An engine that answers 200 to everything. */
const fakeEngine = (name: string): EngineCommand => ({
  name,
  command: process.execPath,
  args: (port) => ["-e", `require("node:http").createServer((_, r) => r.end()).listen(${port}, "127.0.0.1")`],
});

async function startForTest(options: Parameters<typeof startDynamoDB>[0]) {
  const started = await startDynamoDB(options);
  onTestFinished(() => started.stop());
  return started;
}

describe("startDynamoDB", () => {
  it("uses the endpoint it is given, and starts and stops nothing", async () => {
    const started = await startForTest({ endpoint: "http://127.0.0.1:1", installations: NOTHING });

    expect(started).toMatchObject({ engine: "endpoint", endpoint: "http://127.0.0.1:1" });
    await started.stop();
  });

  it("prefers DynamoDB Local if both engines are installed", async () => {
    const installations: DynamoDBInstallations = {
      dynamodbLocal: async () => fakeEngine("dynamodb-local"),
      dynoxide: async () => fakeEngine("dynoxide"),
    };

    expect((await startForTest({ installations })).engine).toBe("dynamodb-local");
    expect((await startForTest({ installations, engine: "dynoxide" })).engine).toBe("dynoxide");
  });

  it("uses the binary if there is no Java", async () => {
    const started = await startForTest({
      installations: { ...NOTHING, dynoxide: async () => fakeEngine("dynoxide") },
    });

    expect(started.engine).toBe("dynoxide");
    expect(await answers(started.endpoint)).toBe(true);
  });

  it("names all three ways when there is no engine", async () => {
    const failure = startDynamoDB({ installations: NOTHING });

    await expect(failure).rejects.toThrow("no DynamoDB engine found");
    await expect(failure).rejects.toThrow("AWS_ENDPOINT_URL_DYNAMODB");
    await expect(failure).rejects.toThrow("Java 17 or later");
    await expect(failure).rejects.toThrow("dynoxide");
  });

  it("names the requested engine that isn't installed", async () => {
    await expect(startDynamoDB({ installations: NOTHING, engine: "dynoxide" })).rejects.toThrow(
      "no dynoxide found",
    );
  });

  it("reports the output of an engine that ends before it responds", async () => {
    const broken: EngineCommand = {
      name: "dynoxide",
      command: process.execPath,
      args: () => ["-e", 'console.error("out of luck"); process.exit(7)'],
    };

    await expect(
      startDynamoDB({ installations: { ...NOTHING, dynoxide: async () => broken } }),
    ).rejects.toThrow(/dynoxide didn't start: ended with exit code 7; its output: out of luck/);
  });

  it("stops the engine that it started, even if called twice", async () => {
    const started = await startDynamoDB({
      installations: { ...NOTHING, dynoxide: async () => fakeEngine("dynoxide") },
    });

    await started.stop();
    await started.stop();

    expect(await answers(started.endpoint)).toBe(false);
  });
});

describe("availableDynamoDBEngines", () => {
  it("lists the installed engines in the order of choice", async () => {
    const both = { dynamodbLocal: async () => fakeEngine("a"), dynoxide: async () => fakeEngine("b") };

    expect(await availableDynamoDBEngines(both)).toEqual([...DYNAMODB_ENGINES]);
    expect(await availableDynamoDBEngines(NOTHING)).toEqual([]);
  });

  it("does not count DynamoDB Local if Java does not run", async () => {
    expect(await dynamodbInstallations("no-such-java").dynamodbLocal()).toBeUndefined();
  });

  it("does not count DynamoDB Local if Java is older than 17", async () => {
    const folder = await folderWith({});
    const java = (version: string) =>
      writeFile(`${folder}/java`, `#!/bin/sh\necho 'openjdk version "${version}"' >&2\n`, { mode: 0o755 });

    await java("1.8.0_402");
    expect(await dynamodbInstallations(`${folder}/java`).dynamodbLocal()).toBeUndefined();
    await java("17.0.1");
    expect(await dynamodbInstallations(`${folder}/java`).dynamodbLocal()).toBeDefined();
  });
});

describe("the engines of a test run", () => {
  it.each(inject("everyDynamodbEngine"))("$name answers at its endpoint", async ({ endpoint }) => {
    expect(await answers(endpoint)).toBe(true);
  });
});
