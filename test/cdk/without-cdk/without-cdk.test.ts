import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "@cdktn/hcl2json";
import { beforeAll, describe, expect, it, test } from "vitest";
import { parse as parseYaml } from "yaml";
import { cloudFormationOf, samOf } from "../../../tools/without-cdk/cloudformation.ts";
import { PREBUILT, type ShopTemplate, shopTemplate } from "../../../tools/without-cdk/shop.ts";
import { terraformOf } from "../../../tools/without-cdk/terraform.ts";
import { root } from "../../kit/project.ts";

const template = shopTemplate();
const examples = join(root, "docs/guides/without-cdk");
const page = readFileSync(join(root, "docs/guides/without-cdk.md"), "utf8");

describe("the examples for apps without CDK", () => {
  it("have in plain CloudFormation what the constructs create", async () => {
    await expect(cloudFormationOf(template)).toMatchFileSnapshot(join(examples, "cloudformation.yaml"));
  });

  it("have in SAM what the constructs create", async () => {
    await expect(samOf(template)).toMatchFileSnapshot(join(examples, "sam.yaml"));
  });

  it("have in Terraform what the constructs create", async () => {
    await expect(terraformOf(template)).toMatchFileSnapshot(join(examples, "main.tf"));
  });
});

describe.each([
  ["plain CloudFormation", cloudFormationOf(template)],
  ["SAM", samOf(template)],
])("the example in %s", (_, text) => {
  const { Parameters, Resources } = parseYaml(text, { logLevel: "error" }) as ShopTemplate;

  it("refers to nothing that it does not have", () => {
    const substituted = [...text.matchAll(/\$\{([\w:]+)/g)].map(([, name]) => name);
    const named = [...text.matchAll(/!(?:Ref|GetAtt) ([\w:]+)/g)].map(([, name]) => name);
    const aliases = Object.entries(Resources).map(
      ([id, { Properties }]) => `${id}Alias${Properties.AutoPublishAlias}`,
    );
    const known = new Set([
      ...["AWS::Partition", "AWS::Region", ...aliases],
      ...Object.keys({ ...Parameters, ...Resources }),
    ]);

    expect(named.length).toBeGreaterThan(50);
    expect([...substituted, ...named].filter((name = "") => !known.has(name))).toEqual([]);
  });

  it("has both functions of the package at the path that stays", () => {
    const codes = Object.values(Resources).map(({ Properties: { Code, CodeUri } }) => Code ?? CodeUri);

    expect(codes.filter((code) => code === PREBUILT)).toHaveLength(2);
  });
});

describe("the Terraform example", () => {
  type Parsed = Readonly<Record<"resource" | "data", Record<string, Record<string, object>>>> & {
    readonly variable: Record<string, object>;
  };
  let parsed: Parsed;

  beforeAll(async () => {
    parsed = (await parse("main.tf", terraformOf(template))) as Parsed;
  });

  it("refers to nothing that it does not have", () => {
    const { resource, data, variable } = parsed;
    const texts = JSON.stringify(parsed);
    const references = [...texts.matchAll(/\b(data\.)?(aws_\w+|archive_file)\.(\w+)\./g)];
    const missing = references.filter(
      ([, isData, type = "", name = ""]) => !(isData ? data : resource)[type]?.[name],
    );

    expect(references.length).toBeGreaterThan(50);
    expect(missing.map(([text]) => text)).toEqual([]);
    for (const [, name = ""] of texts.matchAll(/\bvar\.(\w+)/g)) expect(variable).toHaveProperty(name);
  });

  it("has a resource for each of the template", () => {
    const count = Object.values(parsed.resource).reduce((sum, all) => sum + Object.keys(all).length, 0);
    const managed = Object.keys(parsed.resource.aws_iam_role_policy_attachment ?? {}).length;
    const targets = Object.keys(parsed.resource.aws_cloudwatch_event_target ?? {}).length;

    const versions = Object.values(template.Resources).filter(({ Type }) => Type === "AWS::Lambda::Version");
    expect(count - managed - targets).toBe(Object.keys(template.Resources).length - versions.length);
  });

  test("a property that Terraform doesn't know fails", () => {
    const { Shipments, ...others } = template.Resources;
    const Properties = { ...Shipments?.Properties, DelaySeconds: 5 };
    const Resources = { ...others, Shipments: { Type: "AWS::SQS::Queue", Properties } };

    expect(() => terraformOf({ ...template, Resources })).toThrow(
      "Shipments has properties without counterpart: DelaySeconds",
    );
  });
});

describe("docs/guides/without-cdk.md", () => {
  it("names the folder in which the package has the functions, and their handlers", () => {
    const folder = PREBUILT.replace("node_modules/onceonly/", "");

    expect(existsSync(join(root, folder, "index.mjs"))).toBe(true);
    expect(page).toContain(PREBUILT);
    for (const id of ["OutboxRelay", "OutboxSweeper"]) {
      expect(page).toContain(`\`${template.Resources[id]?.Properties.Handler}\``);
    }
  });

  it("names each variable of their environment", () => {
    const variables = Object.values(template.Resources).flatMap(({ Properties }) =>
      Object.keys(Object(Properties.Environment).Variables ?? {}),
    );
    for (const variable of variables) expect(page).toContain(`\`${variable}\``);
  });
});
