import { describe, expect, it } from "vitest";
import { answerOf, folderWith, hostIn } from "./given.ts";

describe("a bundle", () => {
  it("of CommonJS is read as such, whatever a package.json above its folder says", async () => {
    const project = await folderWith({
      "package.json": '{ "type": "module" }',
      "asset/index.js": 'exports.handler = async () => typeof require("node:fs").readFileSync;',
    });
    const host = hostIn({ codeDirectory: `${project}/asset` });

    expect(answerOf(await host.invoke("{}"))).toBe("function");
  });

  it.each([
    [
      "ESM",
      'import { DynamoDBClient } from "@aws-sdk/client-dynamodb"; export const handler = async () => DynamoDBClient.name;',
    ],
    ["CommonJS", 'exports.handler = async () => require("@aws-sdk/client-dynamodb").DynamoDBClient.name;'],
  ])("of %s finds the AWS SDK that it leaves out", async (kind, source) => {
    const codeDirectory = await folderWith({ [kind === "ESM" ? "index.mjs" : "index.js"]: source });
    const host = hostIn({ codeDirectory });

    expect(answerOf(await host.invoke("{}"))).toBe("DynamoDBClient");
  });

  it("finds no other package that it leaves out", async () => {
    const codeDirectory = await folderWith({
      "index.js": 'require("canonicalize"); exports.handler = async () => 1;',
    });
    const host = hostIn({ codeDirectory });

    expect(await host.invoke("{}")).toMatchObject({
      outcome: "error",
      errorType: "Runtime.ImportModuleError",
    });
  });
});
