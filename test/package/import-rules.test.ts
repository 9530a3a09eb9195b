// The linter's import rules bite: a scratch copy of its settings over files that each break one rule.
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../kit/project.ts";

interface Report {
  readonly diagnostics: readonly {
    readonly category: string;
    readonly location: { readonly path: string };
  }[];
}

const IMPORTS = "lint/style/noRestrictedImports";
const ENVIRONMENT = "lint/style/noProcessEnv";

const refused: readonly (readonly [file: string, source: string, rule: string])[] = [
  ["lib/core/sdk.ts", 'import "@aws-sdk/client-dynamodb";', IMPORTS],
  ["lib/core/middy.ts", 'import type { MiddyfiedHandler } from "@middy/core";', IMPORTS],
  ["lib/core/upwards.ts", 'import "../lambda/idempotency.ts";', IMPORTS],
  ["lib/core/store.ts", 'import "../dynamodb/dynamodb-store.ts";', IMPORTS],
  ["lib/core/dynamic.ts", 'export const late = () => import("aws-cdk-lib");', IMPORTS],
  ["lib/core/environment.ts", 'import { env } from "node:process";', IMPORTS],
  ["lib/core/environment-variable.ts", "export const table = process.env.TABLE;", ENVIRONMENT],
  ["lib/dynamodb/adapters.ts", 'import "../lambda/idempotency.ts";', IMPORTS],
  ["lib/dynamodb/document-client.ts", 'import "@aws-sdk/lib-dynamodb";', IMPORTS],
  ["lib/dynamodb/environment-variable.ts", "export const { TABLE } = process.env;", ENVIRONMENT],
  ["lib/dynamodb/wire/sdk.ts", 'import type { AttributeValue } from "@aws-sdk/util-dynamodb";', IMPORTS],
  ["lib/dynamodb/wire/environment-variable.ts", "export const { TABLE } = process.env;", ENVIRONMENT],
  ["lib/agents/toolkit.ts", 'import type { Tool } from "@modelcontextprotocol/sdk/types.js";', IMPORTS],
  ["lib/agents/environment-variable.ts", "export const { TABLE } = process.env;", ENVIRONMENT],
  ["lib/consumers/client.ts", 'import type { Channel } from "amqplib";', IMPORTS],
  ["lib/consumers/store.ts", 'import "../postgres/postgres-store.ts";', IMPORTS],
  ["lib/consumers/environment-variable.ts", "export const { TABLE } = process.env;", ENVIRONMENT],
  ["lib/lean/signer.ts", 'import "@smithy/signature-v4";', IMPORTS],
  ["lib/lean/adapters.ts", 'import "../lambda/idempotency.ts";', IMPORTS],
  ["lib/lean/environment-variable.ts", "export const { TABLE } = process.env;", ENVIRONMENT],
  ["lib/messaging/store.ts", 'import "../dynamodb/dynamodb-store.ts";', IMPORTS],
  ["lib/messaging/adapters.ts", 'import "../lambda/idempotency.ts";', IMPORTS],
  ["lib/messaging/environment-variable.ts", "export const queue = process.env.QUEUE;", ENVIRONMENT],
  ["lib/lambda/store.ts", 'import "../dynamodb/dynamodb-store.ts";', IMPORTS],
  ["lib/lambda/sdk.ts", 'import "@aws-sdk/client-dynamodb";', IMPORTS],
  ["lib/lambda/batch/store.ts", 'import "../../dynamodb/dynamodb-store.ts";', IMPORTS],
  ["lib/lambda/batch/sdk.ts", 'import "@aws-sdk/client-sqs";', IMPORTS],
  ["lib/lambda/constructs.ts", 'import "../cdk/index.ts";', IMPORTS],
  ["lib/lambda/environment-variable.ts", "export const table = process.env.TABLE;", ENVIRONMENT],
  ["lib/observe/messaging.ts", 'import "../messaging/outbox-options.ts";', IMPORTS],
  ["lib/observe/sdk.ts", 'import "@aws-sdk/client-cloudwatch";', IMPORTS],
  ["lib/observe/node.ts", 'import "node:util";', IMPORTS],
  ["lib/observe/environment-variable.ts", "export const name = process.env.SERVICE;", ENVIRONMENT],
  ["lib/client/core.ts", 'import "../core/errors.ts";', IMPORTS],
  ["lib/client/node.ts", 'import "node:crypto";', IMPORTS],
  ["lib/cdk/core.ts", 'import "../core/record.ts";', IMPORTS],
  ["lib/cdk/runtime.ts", 'import "../index.ts";', IMPORTS],
  ["lib/cdk/sdk.ts", 'import "@aws-sdk/client-dynamodb";', IMPORTS],
  ["lib/contract.ts", 'import "node:crypto";', IMPORTS],
  ["lib/index.ts", 'export * from "./cdk/index.ts";', IMPORTS],
  ["lib/testing/store.ts", 'import "../dynamodb/dynamodb-store.ts";', IMPORTS],
  ["lib/testing/runner.ts", 'import "vitest";', IMPORTS],
  ["lib/core/messages/upwards.ts", 'import "../../messaging/envelope.ts";', IMPORTS],
  ["lib/cdk/monitoring/core.ts", 'import "../../core/record.ts";', IMPORTS],
  ["lib/lambda/http/store.ts", 'import "../../dynamodb/dynamodb-store.ts";', IMPORTS],
  ["lib/a-new-folder/constructs.ts", 'import "aws-cdk-lib";', IMPORTS],
  ["packages/explorer/lib/aws/sqs/constructs.ts", 'import "aws-cdk-lib";', IMPORTS],
  ["packages/explorer/lib/aws/library.ts", 'import "onceonly";', IMPORTS],
  ["packages/explorer/lib/aws/dynamodb/upwards.ts", 'import "../../simulator/simulator.ts";', IMPORTS],
  ["packages/explorer/lib/aws/internal.ts", 'import "../../../../lib/core/clock.ts";', IMPORTS],
  ["packages/explorer/lib/simulator/internal.ts", 'import "../../../../lib/core/clock.ts";', IMPORTS],
  [
    "packages/explorer/lib/simulator/patches/internal.ts",
    'import "../../../../../lib/contract.ts";',
    IMPORTS,
  ],
  ["packages/explorer/lib/simulator/upwards.ts", 'import "../explorer/explore.ts";', IMPORTS],
  ["packages/explorer/lib/explorer/runner.ts", 'import "vitest";', IMPORTS],
  ["packages/explorer/lib/explorer/sources/local.ts", 'import "onceonly-local";', IMPORTS],
  ["packages/explorer/lib/explorer/internal.ts", 'import "../../../../lib/core/visible.ts";', IMPORTS],
  ["packages/cli/lib/constructs.ts", 'import "onceonly/cdk";', IMPORTS],
  ["packages/cli/lib/internal.ts", 'import "../../../lib/core/record.ts";', IMPORTS],
  ["packages/cli/lib/console/internal.ts", 'import "../../../../lib/core/record.ts";', IMPORTS],
  [
    "packages/cli/lib/doctor/live/model.ts",
    'import "../../../../explorer/lib/aws/sqs/sqs-model.ts";',
    IMPORTS,
  ],
  ["packages/local/lib/tests.ts", 'import "../../../test/setup/engines.ts";', IMPORTS],
  ["packages/local/lib/internal.ts", 'import "../../../lib/core/clock.ts";', IMPORTS],
  ["packages/local/lib/everything.ts", 'import "onceonly";', IMPORTS],
  ["packages/local/lib/app.ts", 'import "../../../bin/app.ts";', IMPORTS],
  ["packages/local/lib/stack/sample.ts", 'import "../../../../functions/order.ts";', IMPORTS],
  ["packages/proof/show/tests.ts", 'import "../../../test/setup/engines.ts";', IMPORTS],
  ["test/kit/tests.ts", 'import "../setup/engines.ts";', IMPORTS],
  ["test/kit/proof.ts", 'import "../../packages/proof/measure/main.ts";', IMPORTS],
  ["test/core/proof.ts", 'import "../../packages/proof/measure/main.ts";', IMPORTS],
  ["lib/core/tools.ts", 'import "onceonly-explorer";', IMPORTS],
  ["examples/outbox/relative.ts", 'import "../../lib/index.ts";', IMPORTS],
  ["examples/outbox/other-example.ts", 'import "../saga/systems.ts";', IMPORTS],
  ["functions/relative.ts", 'import "../lib/index.ts";', IMPORTS],
  ["functions/deep.ts", 'import "onceonly/lib/core/errors.ts";', IMPORTS],
  ["bin/app.ts", 'import "../lib/cdk/index.ts";', IMPORTS],
  [
    "lib/core/left.ts",
    'import { right } from "./right.ts";\nexport const left = () => right;',
    "lint/suspicious/noImportCycles",
  ],
  [
    "lib/core/left-type.ts",
    'import type { Right } from "./right-type.ts";\nexport type Left = Right;',
    "lint/suspicious/noImportCycles",
  ],
  [
    "lib/core/floating.ts",
    "async function late(): Promise<void> {}\nlate();",
    "lint/nursery/noFloatingPromises",
  ],
];

const allowed: readonly (readonly [file: string, source: string])[] = [
  ["lib/core/allowed.ts", 'import "node:fs/promises";\nimport "../contract.ts";\nimport "./left.ts";'],
  ["lib/dynamodb/allowed.ts", 'import "@aws-sdk/client-dynamodb";\nimport "../core/store.ts";'],
  [
    "lib/messaging/allowed.ts",
    'import "../core/clock.ts";\nimport "../contract.ts";\nexport const sdk = () => import("@aws-sdk/client-sqs");',
  ],
  [
    "lib/lambda/allowed.ts",
    'import type {} from "@middy/core";\nimport type {} from "aws-lambda";\nimport "../core/store.ts";',
  ],
  [
    "lib/lambda/batch/allowed.ts",
    'import "../context.ts";\nimport "../../core/store.ts";\nimport "../../messaging/envelope.ts";',
  ],
  ["lib/observe/allowed.ts", 'import "../core/decisions.ts";\nimport "../contract.ts";\nimport "./sdk.ts";'],
  ["packages/explorer/lib/aws/sqs/allowed.ts", 'import "onceonly/kit";\nimport "../aws-service.ts";'],
  [
    "packages/explorer/lib/simulator/allowed.ts",
    'import "onceonly/testing";\nimport "../aws/dynamodb/dynamodb-model.ts";\nimport "./patches/date.ts";',
  ],
  [
    "packages/explorer/lib/explorer/sources/allowed.ts",
    'import "../../simulator/simulator.ts";\nimport "../../aws/sqs/sqs-model.ts";',
  ],
  [
    "packages/cli/lib/doctor/live/allowed.ts",
    'import "@aws-sdk/client-lambda";\nimport "onceonly/kit";\nimport "../../command.ts";\nexport const local = () => import("onceonly-local");',
  ],
  [
    "packages/local/lib/allowed.ts",
    'import "onceonly/kit";\nimport "onceonly-explorer/aws";\nexport const endpoint = process.env.ENDPOINT;',
  ],
  ["packages/proof/test/allowed.ts", 'import "../measure/main.ts";'],
  ["lib/core/messages/allowed.ts", 'import "../errors.ts";\nimport "../../contract.ts";'],
  ["lib/lambda/http/allowed.ts", 'import "../context.ts";\nimport "../../core/messages/prepare-message.ts";'],
  ["lib/client/allowed.ts", 'import "./core.ts";'],
  ["lib/cdk/allowed.ts", 'import "aws-cdk-lib/aws-lambda";\nimport "constructs";\nimport "../contract.ts";'],
  [
    "examples/outbox/allowed.ts",
    'import "onceonly/dynamodb";\nimport "./neighbour.ts";\nexport const table = process.env.TABLE;',
  ],
  [
    "functions/allowed.ts",
    'import "onceonly";\nimport "./relative.ts";\nexport const table = process.env.TABLE;',
  ],
];

let folder: string;
const found = new Map<string, Set<string>>();

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), "import-rules-")));
  for (const file of [
    "biome.json",
    ".gitignore",
    ...(await settingsOf("lib", "bin", "examples", "functions", "packages", "test")),
  ]) {
    await cp(join(root, file), join(folder, file));
  }
  const right = [
    "lib/core/right.ts",
    'import { left } from "./left.ts";\nexport const right = () => left;',
  ] as const;
  const rightType = [
    "lib/core/right-type.ts",
    'import type { Left } from "./left-type.ts";\nexport type Right = Left | undefined;',
  ] as const;
  for (const [file, source] of [...refused, ...allowed, right, rightType]) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), `${source}\n`);
  }
  for (const { category, location } of (await lint(folder)).diagnostics) {
    found.set(location.path, (found.get(location.path) ?? new Set()).add(category));
  }
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe("biome.json", () => {
  it.each(refused)("refuses %s: %s", (file, _source, rule) => {
    expect([...(found.get(file) ?? [])]).toContain(rule);
  });

  it.each(allowed)("allows %s", (file) => {
    const rules = [...(found.get(file) ?? [])];

    expect(rules.filter((rule) => rule === IMPORTS || rule === ENVIRONMENT)).toEqual([]);
  });
});

async function settingsOf(...wings: string[]): Promise<string[]> {
  const files = wings.map(async (wing) => {
    const paths = await readdir(join(root, wing), { recursive: true });
    return paths.filter((path) => path.endsWith("biome.json")).map((path) => join(wing, path));
  });
  return (await Promise.all(files)).flat();
}

function lint(directory: string): Promise<Report> {
  const biome = join(root, "node_modules/@biomejs/biome/bin/biome");
  const options = ["lint", "--reporter=json", "--max-diagnostics=none", "."];
  return new Promise((resolve, reject) => {
    // The exit status is 1, since there are findings.
    execFile(process.execPath, [biome, ...options], { cwd: directory }, (error, stdout) => {
      try {
        resolve(JSON.parse(stdout));
      } catch {
        reject(new Error("biome printed no report", { cause: error }));
      }
    });
  });
}
