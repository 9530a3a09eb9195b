// Templates as the doctor is given them: files that `cdk synth` wrote, in JSON, or templates of SAM and CloudFormation, in YAML or
// JSON. Reads files only.
import { existsSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Template } from "onceonly-local";
import { UsageError } from "../command.ts";
import { loadTool } from "../installed.ts";
import { whyUnreadable } from "../unreadable.ts";

/** What reads a template for `onceonly start`, too. */
type Reader = Pick<
  typeof import("onceonly-local"),
  "expandSam" | "objectOf" | "readObject" | "readTemplate" | "templateFileIn"
>;

export interface ReadStack {
  readonly file: string;
  /** Of the stack, by which others ask for its outputs. */
  readonly name: string;
  readonly template: Template;
  readonly account: string | undefined;
  readonly region: string | undefined;
  /** The folder of the stage that the stack is in. */
  readonly stage: string;
  /** Nested stacks, by their logical ids. */
  readonly nested: ReadonlyMap<string, ReadStack>;
  /** Resources and properties that the expansion of SAM leaves out. */
  readonly leftOut: readonly string[];
}

/** @throws UsageError for a file that isn't a template */
export async function readStacks(paths: readonly string[]): Promise<ReadStack[]> {
  const reader = await loadTool("doctor --template", "onceonly-local");
  const files = [...new Set(paths.flatMap((path) => templatesAt(path, reader)))];
  // The arguments may name a template and the one that nests it.
  const inner = new Set<string>();
  const stacks = files.map((file) => readStack(file, inner, reader));
  return stacks.filter(({ file }) => !inner.has(file));
}

/** The templates of a folder: those of an assembly with its stages, or the one of a SAM project. */
function templatesAt(path: string, reader: Reader): string[] {
  if (!existsSync(path)) throw cannotRead(path, whyUnreadable({ code: "ENOENT" }));
  if (!statSync(path).isDirectory()) return [realpathSync(path)];
  const manifest = join(path, "manifest.json");
  if (existsSync(manifest)) return templatesOfAssembly(realpathSync(path), reader);
  const file = reader.templateFileIn(path);
  if (file === undefined)
    throw cannotRead(path, "the folder contains neither a manifest.json nor a template");
  return [realpathSync(file)];
}

function templatesOfAssembly(folder: string, reader: Reader): string[] {
  return Object.values(artifactsIn(folder, reader)).flatMap(({ type, properties }) => {
    if (type === "cdk:cloud-assembly")
      return templatesOfAssembly(join(folder, `${properties.directoryName}`), reader);
    return type === "aws:cloudformation:stack" ? [join(folder, `${properties.templateFile}`)] : [];
  });
}

interface Artifact {
  readonly type: unknown;
  readonly environment: unknown;
  readonly properties: Readonly<Record<string, unknown>>;
}

function artifactsIn(folder: string, { objectOf, readObject }: Reader): Record<string, Artifact> {
  const artifacts = objectOf(readObject(join(folder, "manifest.json")).artifacts, "artifacts");
  return Object.fromEntries(
    Object.entries(artifacts).map(([id, given]) => {
      const { type, environment, properties } = objectOf(given, `artifact ${id}`);
      return [id, { type, environment, properties: objectOf(properties, `properties of ${id}`) }];
    }),
  );
}

function readStack(file: string, inner: Set<string>, reader: Reader): ReadStack {
  try {
    const folder = dirname(file);
    const read = reader.readTemplate(file);
    const { template, notRun: leftOut } = reader.expandSam(read.template, read.name);
    return {
      file,
      template,
      leftOut,
      ...placeOf(file, reader),
      nested: nestedIn(template, folder, inner, reader),
    };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw cannotRead(file, code === undefined ? message : whyUnreadable({ code }));
  }
}

/** `cdk synth` writes the templates of nested stacks next to their parent's. */
function nestedIn(
  template: Template,
  folder: string,
  inner: Set<string>,
  reader: Reader,
): Map<string, ReadStack> {
  const found = new Map<string, ReadStack>();
  for (const [id, resource] of Object.entries(template.Resources)) {
    if (resource.Type !== "AWS::CloudFormation::Stack") continue;
    const path =
      resource.Metadata?.["aws:asset:path"] ?? assetOf(resource.Properties?.TemplateURL, folder, reader);
    if (typeof path !== "string") continue;
    const file = join(folder, basename(path));
    if (!existsSync(file)) continue;
    inner.add(realpathSync(file));
    found.set(id, readStack(realpathSync(file), inner, reader));
  }
  return found;
}

/** The asset by whose hash a URL ends, in the manifests of the folder. */
function assetOf(url: unknown, folder: string, { objectOf, readObject }: Reader): unknown {
  const [, hash] = /\/([\da-f]{64})\.json/.exec(JSON.stringify(url) ?? "") ?? [];
  if (hash === undefined) return undefined;
  return readdirSync(folder)
    .filter((name) => name.endsWith(".assets.json"))
    .map((name) => objectOf(readObject(join(folder, name)).files, name)[hash])
    .map((asset) => (asset as { source?: { path?: unknown } } | undefined)?.source?.path)
    .find((path) => path !== undefined);
}

/** As the assembly around the file says it. */
function placeOf(file: string, reader: Reader): Pick<ReadStack, "name" | "account" | "region" | "stage"> {
  const [folder, name] = [dirname(file), basename(file)];
  const place = { name: name.replace(/(\.template)?\.\w+$/, ""), account: undefined, region: undefined };
  if (!existsSync(join(folder, "manifest.json"))) return { ...place, stage: "" };
  const found = Object.entries(artifactsIn(folder, reader)).find(
    ([, each]) => each.properties.templateFile === name,
  );
  if (!found) return { ...place, stage: folder };
  const [id, { environment, properties }] = found;
  const [, account, region] = /^aws:\/\/([^/]+)\/([^/]+)$/.exec(`${environment}`) ?? [];
  const known = (value: string | undefined) => (value?.startsWith("unknown-") ? undefined : value);
  return {
    name: `${properties.stackName ?? id}`,
    account: known(account),
    region: known(region),
    stage: folder,
  };
}

const cannotRead = (path: string, why: string) => new UsageError(`can't read the template ${path}: ${why}`);
