// Cloud assemblies that `onceonly start` is given: read as what they say, or one clear error; nothing outside the folder.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readAssembly } from "../../../packages/local/lib/stack/assembly.ts";
import { resolveIntrinsics } from "../../../packages/local/lib/stack/intrinsics.ts";
import { deploymentOrder } from "../../../packages/local/lib/stack/references.ts";
import { createStackScope } from "../../../packages/local/lib/stack/stack-scope.ts";
import { hold, type Suite } from "../world.ts";

interface HostileAssembly {
  /** Content of files by their names, as text. */
  readonly files: Readonly<Record<string, string>>;
}
interface HostileValue {
  /** A value of a template, and the template around it. */
  readonly value: unknown;
  readonly template: object;
}

const CANARY = "canary-5f2e";
const ODD_JSON = [
  "",
  "{",
  "null",
  "[]",
  "7",
  '"text"',
  "true",
  "{}",
  '{"artifacts":null}',
  '{"artifacts":[]}',
  '{"artifacts":7}',
  `${"[".repeat(10_000)}${"]".repeat(10_000)}`,
  `${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`,
  "\ufeff{}",
  "{}{}",
  '{"__proto__":{"artifacts":{}}}',
];
const ODD_MEMBERS: readonly unknown[] = [
  null,
  7,
  true,
  "",
  "x",
  [],
  {},
  [null],
  [7],
  ["Stack", 7],
  { a: null },
  "../secret.json",
  "/etc/hostname",
  "..",
  ".",
  "a/../../secret.json",
  "..\\secret.json",
  "\u0000",
  "a".repeat(10_000),
  "__proto__",
  "constructor",
  "https://attacker.example/x.json",
];

const stack = (change: object = {}) => ({
  type: "aws:cloudformation:stack",
  environment: "aws://unknown-account/eu-central-1",
  properties: { templateFile: "Stack.json" },
  dependencies: ["Assets"],
  ...change,
});
const assets = (change: object = {}) => ({
  type: "cdk:asset-manifest",
  properties: { file: "assets.json" },
  ...change,
});
const assemblyOf = (artifacts: unknown, files: Readonly<Record<string, string>> = {}): HostileAssembly => ({
  files: {
    "manifest.json": JSON.stringify({ version: "55.0.0", artifacts }),
    "Stack.json": JSON.stringify({ Resources: { Topic: { Type: "AWS::SNS::Topic" } } }),
    "assets.json": JSON.stringify({
      files: {
        code: { source: { path: "code", packaging: "zip" }, destinations: { here: { objectKey: "k" } } },
      },
    }),
    ...files,
  },
});

function assembliesWith(): HostileAssembly[] {
  const fields = ["type", "environment", "dependencies", "properties"];
  const paths = ["templateFile", "stackName"];
  return [
    ...ODD_JSON.flatMap((text) =>
      ["manifest.json", "Stack.json", "assets.json"].map((file) =>
        assemblyOf({ Stack: stack(), Assets: assets() }, { [file]: text }),
      ),
    ),
    ...ODD_MEMBERS.map((artifacts) => assemblyOf(artifacts)),
    ...ODD_MEMBERS.flatMap((odd) => [
      assemblyOf({ Stack: odd }),
      assemblyOf({ Stack: stack(), Assets: odd }),
      ...fields.flatMap((field) => [
        assemblyOf({ Stack: stack({ [field]: odd }), Assets: assets() }),
        assemblyOf({ Stack: stack(), Assets: assets({ [field]: odd }) }),
      ]),
      ...paths.map((path) =>
        assemblyOf({
          Stack: stack({ properties: { templateFile: "Stack.json", [path]: odd } }),
          Assets: assets(),
        }),
      ),
      assemblyOf({ Stack: stack(), Assets: assets({ properties: { file: odd } }) }),
      assemblyOf({ Stage: { type: "cdk:cloud-assembly", properties: { directoryName: odd } } }),
      ...["Resources", "Parameters", "Conditions", "Outputs"].map((part) =>
        assemblyOf({ Stack: stack(), Assets: assets() }, { "Stack.json": JSON.stringify({ [part]: odd }) }),
      ),
      assemblyOf(
        { Stack: stack(), Assets: assets() },
        { "Stack.json": JSON.stringify({ Resources: { A: odd } }) },
      ),
      ...["files", "source", "destinations", "objectKey"].map((part) =>
        assemblyOf({ Stack: stack(), Assets: assets() }, { "assets.json": assetsWith(part, odd) }),
      ),
    ]),
    assemblyOf({ A: stack({ dependencies: ["B"] }), B: stack({ dependencies: ["A"] }) }),
    assemblyOf({ A: stack({ dependencies: ["A"] }) }),
    assemblyOf(
      Object.fromEntries(
        Array.from({ length: 300 }, (_, index) => [`S${index}`, stack({ dependencies: [`S${index + 1}`] })]),
      ),
    ),
  ];
}

function assetsWith(part: string, odd: unknown): string {
  const destination = part === "objectKey" ? { objectKey: odd } : { objectKey: "k" };
  const code = {
    source: part === "source" ? odd : { path: "code" },
    destinations: part === "destinations" ? odd : { here: destination },
  };
  return JSON.stringify({ files: part === "files" ? odd : { code } });
}

const FUNCTIONS = [
  "Ref",
  "Condition",
  "Fn::GetAtt",
  "Fn::Join",
  "Fn::Sub",
  "Fn::Select",
  "Fn::Split",
  "Fn::If",
  "Fn::Equals",
  "Fn::And",
  "Fn::Or",
  "Fn::Not",
  "Fn::FindInMap",
  "Fn::Base64",
  "Fn::ImportValue",
  "Fn::GetAZs",
  "Fn::Transform",
  "Fn::constructor",
  "Fn::__proto__",
];
const ARGUMENTS: readonly unknown[] = [
  null,
  7,
  true,
  "",
  "toString",
  "__proto__",
  "constructor",
  "Missing",
  "Missing.Arn",
  "AWS::Region",
  `\${toString}`,
  `\${constructor.name}`,
  `\${__proto__}`,
  `\${`,
  `\${AWS::Region}`.repeat(100),
  [],
  [null],
  ["", []],
  [",", "x"],
  [0, []],
  [-1, ["a"]],
  ["constructor", ["a"]],
  ["Map", "toString", "x"],
  ["toString", "x", "y"],
  ["Loop", 1, 2],
  ["Missing", 1, 2],
  [{ Ref: "Missing" }],
  { Ref: { Ref: "AWS::Region" } },
  { "Fn::Sub": [`\${a}`, { a: { Ref: "AWS::Region" } }] },
];
const TEMPLATE = {
  Resources: { Queue: { Type: "AWS::SQS::Queue" } },
  Mappings: { Map: { a: { b: 1 } } },
  Conditions: {
    Loop: { Condition: "Back" },
    Back: { "Fn::Not": [{ Condition: "Loop" }] },
    Yes: { "Fn::Equals": [1, 1] },
  },
};

function judgeFiles({ files }: HostileAssembly): "refused" | "accepted" {
  const parent = mkdtempSync(join(tmpdir(), "hostile-"));
  const folder = join(parent, "cdk.out");
  try {
    writeFileSync(
      join(parent, "secret.json"),
      JSON.stringify({ Resources: { [CANARY]: { Type: CANARY } }, files: { [CANARY]: {} } }),
    );
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), content);
    }
    const stacks = readAssembly(folder);
    for (const { template, assets, name } of stacks) {
      hold(!JSON.stringify([template, [...assets]]).includes(CANARY), "read what is outside of its folder");
      hold(
        typeof name === "string" && Object.values(template.Resources).every((each) => Object(each) === each),
        "has a stack of another shape",
      );
      deploymentOrder(template.Resources);
    }
    return "accepted";
  } catch (error) {
    return refusal(error);
  } finally {
    rmSync(parent, { recursive: true, force: true });
  }
}

function judgeValue({ value, template }: HostileValue): "refused" | "accepted" {
  try {
    const scope = createStackScope({
      template: template as never,
      stackName: "Stack",
      region: "eu-central-1",
      parameters: {},
      deployed: new Map(),
      exports: new Map(),
      outputs: new Map(),
    });
    const resolved = resolveIntrinsics(value, scope);
    hold(
      !/function|object Object/.test(`${typeof resolved} ${String(JSON.stringify(resolved))}`),
      `became ${String(resolved)}`,
    );
    return "accepted";
  } catch (error) {
    return refusal(error);
  }
}

function refusal(error: unknown): "refused" {
  const { name, message } = error as Error;
  hold(name === "Error", `failed with ${name}: ${message}`);
  hold(
    message.length > 10 && message.length < 1000 && !message.includes(CANARY),
    `failed with ${message.slice(0, 200)}`,
  );
  return "refused";
}

export const assemblies: Suite<HostileAssembly | HostileValue> = {
  title: "assemblies",
  what: "cloud assemblies and templates that aren't JSON, nested 10,000 deep, in circles, of another shape, or that name files outside their folder and members that every object has",
  promise:
    "read as written, or one clear error; no template outside the folder is read, and nothing loops forever",
  inputs: () => [
    ...assembliesWith(),
    ...FUNCTIONS.flatMap((name) =>
      ARGUMENTS.map((argument) => ({ value: { [name]: argument }, template: TEMPLATE })),
    ),
  ],
  judge: (input) => ("files" in input ? judgeFiles(input) : judgeValue(input)),
};
