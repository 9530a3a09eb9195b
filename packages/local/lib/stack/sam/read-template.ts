// A template without a CDK app: the output of `sam build`, or a SAM or CloudFormation file. Its code is in folders next to it.
// Reads files only.
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { ScalarTag, YAMLMap, YAMLSeq } from "yaml";
import { requireInstalled } from "../../installed-package.ts";
import type { Asset, SynthesizedStack } from "../assembly.ts";
import { faultOf, objectOf } from "../assembly-file.ts";
import type { Template } from "../template.ts";

/** Where a template is looked for in a folder; a built one comes first. */
const FILES = [".aws-sam/build/template.yaml", "template.yaml", "template.yml", "sam.yaml", "template.json"];

const READABLE = /\.(yaml|yml|json|template)$/;

/** Of other tools, whose files look like an app or a template. */
const UNREADABLE: readonly (readonly [RegExp, string])[] = [
  [/\.(tf|tf\.json)$/, "Terraform"],
  [/^serverless\.(ya?ml|json|ts|js)$/, "the Serverless Framework"],
  [/^Pulumi\.ya?ml$/, "Pulumi"],
];

/** The paths that `onceonly start` accepts. */
export const READS =
  "the folder of a CDK app (with its cdk.json), the cdk.out that it synthesized, or a CloudFormation or SAM template (.yaml, .yml, .json or .template)";

/**
 * @returns the template to read; `undefined` for a CDK app, and for a folder without a template
 * @throws Error for files of other tools
 */
export function templateFileIn(given: string): string | undefined {
  const path = resolve(given);
  const names = namesAt(path);
  if (names.includes("cdk.json") || names.includes("manifest.json")) return undefined;
  const template = FILES.map((file) => join(path, file)).find((file) => existsSync(file));
  if (template !== undefined) return template;
  for (const [pattern, tool] of UNREADABLE) {
    const name = names.find((each) => pattern.test(each));
    if (name !== undefined)
      throw new Error(`${name} belongs to ${tool}, which can't run here: pass ${READS}`);
  }
  if (names.length !== 1 || !statSync(path).isFile()) return undefined;
  if (READABLE.test(path)) return path;
  throw new Error(`${basename(path)} isn't a template: pass ${READS}`);
}

/** The names in a folder, or just the file's name. */
function namesAt(path: string): string[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() ? readdirSync(path) : stat ? [basename(path)] : [];
}

/** @throws Error for anything but a template */
export function readTemplate(file: string): SynthesizedStack {
  const what = basename(file);
  const given = objectOf(parsed(file), what);
  // `cdk synth` writes a stack without resources, too.
  if (given.Resources === undefined && !what.endsWith(".template.json"))
    throw new Error(`${what} isn't a template because it has no Resources: pass ${READS}`);
  for (const [logicalId, resource] of Object.entries(objectOf(given.Resources, `Resources of ${what}`))) {
    if (typeof Object(resource).Type !== "string")
      throw faultOf(`resource ${logicalId} of ${what} has no Type`);
  }
  const template = { Resources: {}, ...given } as Template;
  const name = nameOf(file);
  const environment = { account: undefined, region: undefined };
  return { name, place: name, ...environment, template, assets: assetsOf(template, dirname(file)) };
}

function parsed(file: string): unknown {
  const text = readFileSync(file, "utf8");
  try {
    if (file.endsWith(".json")) return JSON.parse(text);
    const yaml = requireInstalled<typeof import("yaml")>("yaml");
    const document = yaml.parseDocument(text, { customTags: SHORT_FORMS.flatMap(tagsOf) });
    // The parser only warns about an unknown tag, and its argument would pass for its result.
    const [fault] = [...document.errors, ...document.warnings];
    if (fault) throw fault;
    return document.toJS();
  } catch (cause) {
    throw faultOf(`can't read ${basename(file)}: ${(cause as Error).message.slice(0, 300)}`, cause);
  }
}

/** The folder of the project; a stack's name has letters, digits and hyphens. */
function nameOf(file: string): string {
  const project = dirname(file).replace(/\/\.aws-sam\/build$/, "");
  return (
    basename(project)
      .replaceAll(/[^A-Za-z\d-]+/g, "-")
      .replace(/^[^A-Za-z]+/, "") || "App"
  );
}

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html */
const SHORT_FORMS = [
  "Ref",
  "Condition",
  ...[
    "And",
    "Base64",
    "Cidr",
    "Equals",
    "FindInMap",
    "GetAZs",
    "GetAtt",
    "GetStackOutput",
    "If",
    "ImportValue",
  ],
  ...["Join", "Length", "Not", "Or", "Select", "Split", "Sub", "ToJsonString", "Transform"],
];

/** `!Sub text` stands for `{ "Fn::Sub": "text" }`, of a text, a list and a map. */
function tagsOf(name: string): ScalarTag[] {
  const key = name === "Ref" || name === "Condition" ? name : `Fn::${name}`;
  const tag = `!${name}`;
  const ofCollection = (value: YAMLMap | YAMLSeq) => ({ [key]: value.toJSON() });
  return [
    { tag, resolve: (text: string) => ({ [key]: text }) },
    ...(["seq", "map"] as const).map(
      (collection) => ({ tag, collection, resolve: ofCollection }) as unknown as ScalarTag,
    ),
  ];
}

/** Paths of code in functions, by themselves: folders relative to the template. */
function assetsOf({ Resources, Globals }: Template, folder: string): Map<string, Asset> {
  const properties = [...Object.values(Resources).map((resource) => resource.Properties), Globals?.Function];
  const paths = properties.flatMap((each) => {
    const { CodeUri, Code } = Object(each) as { CodeUri?: unknown; Code?: unknown };
    return [CodeUri, Code].filter((path) => typeof path === "string");
  });
  return new Map(paths.map((path) => [path, { path: resolve(folder, path), packaging: "zip" }]));
}
