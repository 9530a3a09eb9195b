// What the page says Powertools lacks. Each test fails when the installed Powertools has something it didn't have when the page was written.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as powertools from "@aws-lambda-powertools/idempotency";
import * as middleware from "@aws-lambda-powertools/idempotency/middleware";
import { describe, expect, it } from "vitest";
import { root } from "../kit/project.ts";
import { POWERTOOLS_OPTIONS } from "./powertools-options.ts";

const folder = join(root, "node_modules/@aws-lambda-powertools/idempotency");
const read = (path: string) => readFileSync(join(folder, path), "utf8");

/** The properties that a type declares, such as `  keyPrefix?: string;`. */
const propertiesOf = (file: string, type: string) => {
  const [, body = ""] =
    new RegExp(`(?:type|interface) ${type}\\b[^{]*\\{(.*?)^\\}`, "ms").exec(read(file)) ?? [];
  return [...body.matchAll(/^ {4}(\w+)\??:/gm)].map(([, name]) => name);
};

describe("Powertools", () => {
  it("has wrappers for a function, a method and Middy only", () => {
    const functions = [...Object.entries(powertools), ...Object.entries(middleware)].filter(
      ([name, value]) => typeof value === "function" && !name.endsWith("Error"),
    );

    expect(functions.map(([name]) => name).sort()).toEqual([
      "IdempotencyConfig",
      "idempotent",
      "makeHandlerIdempotent",
      "makeIdempotent",
    ]);
  });

  it("has stores for DynamoDB and a cache only", () => {
    const { exports } = JSON.parse(read("package.json"));

    expect(Object.keys(exports)).toEqual([
      ".",
      "./persistence",
      "./dynamodb",
      "./dynamodb/types",
      "./cache",
      "./cache/types",
      "./middleware",
      "./types",
    ]);
  });

  it("writes to DynamoDB without transactions", () => {
    const source = read("lib/esm/persistence/DynamoDBPersistenceLayer.js");

    const commands = [...source.matchAll(/new (\w+)Command\(/g)].map(([, name]) => name);
    expect(new Set(commands)).toEqual(new Set(["GetItem", "PutItem", "UpdateItem", "DeleteItem"]));
  });

  it("has no options for waiting, scopes, unknown outcomes, leases or decisions", () => {
    expect(propertiesOf("lib/esm/types/IdempotencyOptions.d.ts", "IdempotencyConfigOptions")).toEqual(
      POWERTOOLS_OPTIONS.config,
    );
    expect(propertiesOf("lib/esm/types/IdempotencyOptions.d.ts", "IdempotencyLambdaHandlerOptions")).toEqual(
      POWERTOOLS_OPTIONS.wrapper,
    );
  });

  it("has options of its DynamoDB store for names and the client only", () => {
    expect(
      [
        ...propertiesOf("lib/esm/types/DynamoDBPersistence.d.ts", "DynamoDBPersistenceOptionsBase"),
        ...propertiesOf(
          "lib/esm/types/DynamoDBPersistence.d.ts",
          "DynamoDBPersistenceOptionsWithClientConfig",
        ),
        ...propertiesOf("lib/esm/types/BasePersistenceLayer.d.ts", "BasePersistenceAttributes"),
      ].sort(),
    ).toEqual(POWERTOOLS_OPTIONS.dynamodb);
  });

  it("emits no metrics", () => {
    const sources = readdirSync(join(folder, "lib/esm"), { recursive: true, encoding: "utf8" }).filter(
      (path) => path.endsWith(".js"),
    );

    expect(sources.length).toBeGreaterThan(10);
    expect(sources.filter((path) => /metric/i.test(read(join("lib/esm", path))))).toEqual([]);
  });

  it("throws these errors, each of which the page translates", () => {
    const errors = Object.keys(powertools).filter((name) => name.endsWith("Error"));

    expect(errors.sort()).toEqual(POWERTOOLS_OPTIONS.errors);
  });
});
