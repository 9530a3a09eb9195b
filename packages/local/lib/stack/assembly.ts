// Reads a cloud assembly, the folder that `cdk synth` writes. Its stacks come in dependency order,
// each with its template and the folders of its assets. Reads files only.
// https://github.com/aws/aws-cdk/blob/main/packages/aws-cdk-lib/cx-api/README.md
import { join, resolve } from "node:path";
import { faultOf, namesOf, objectOf, pathInside, readObject } from "./assembly-file.ts";
import type { Template } from "./template.ts";

export interface SynthesizedStack {
  readonly name: string;
  /** Its place in the app, which no other stack has: `Prod/Orders`. */
  readonly place: string;
  /** `undefined` if the app leaves it open. */
  readonly account: string | undefined;
  /** `undefined` if the app leaves it open. */
  readonly region: string | undefined;
  readonly template: Template;
  /** The folder or file of an asset, by the S3 key under which the template asks for it. */
  readonly assets: ReadonlyMap<string, Asset>;
}

export interface Asset {
  readonly path: string;
  readonly packaging: string;
}

type Fields = Readonly<Record<string, unknown>>;

interface Artifact {
  readonly type: unknown;
  readonly displayName: unknown;
  readonly environment: unknown;
  readonly dependencies: readonly string[];
  readonly properties: Fields;
}

/**
 * The stacks of an assembly and of the stages nested in it.
 * @throws Error that names the part that can't be read
 */
export function readAssembly(folder: string): SynthesizedStack[] {
  const given = objectOf(readObject(join(folder, "manifest.json")).artifacts, "artifacts of manifest.json");
  const artifacts = new Map(Object.entries(given).map(([id, artifact]) => [id, artifactOf(id, artifact)]));
  return inDependencyOrder(artifacts).flatMap(([id, artifact]) => {
    if (artifact.type === "cdk:cloud-assembly") {
      return readAssembly(pathInside(folder, artifact.properties.directoryName, `directory of ${id}`));
    }
    return artifact.type === "aws:cloudformation:stack" ? [readStack(folder, id, artifact, artifacts)] : [];
  });
}

function artifactOf(id: string, given: unknown): Artifact {
  const { type, displayName, environment, dependencies, properties } = objectOf(given, `artifact ${id}`);
  return {
    type,
    displayName,
    environment,
    dependencies: namesOf(dependencies, `dependencies of ${id}`),
    properties: objectOf(properties, `properties of ${id}`),
  };
}

function readStack(
  folder: string,
  id: string,
  { displayName, environment, properties, dependencies }: Artifact,
  artifacts: ReadonlyMap<string, Artifact>,
): SynthesizedStack {
  const [, account, region] = /^aws:\/\/([^/]*)\/([^/]*)$/.exec(String(environment)) ?? [];
  const template = readObject(pathInside(folder, properties.templateFile, `template of ${id}`));
  for (const [logicalId, resource] of Object.entries(objectOf(template.Resources, `Resources of ${id}`))) {
    objectOf(resource ?? "nothing", `resource ${logicalId} of ${id}`);
  }
  return {
    name: String(properties.stackName ?? id),
    place: String(displayName ?? id),
    account: account === "unknown-account" ? undefined : account,
    region: region === "unknown-region" ? undefined : region,
    template: { Resources: {}, ...template } as Template,
    assets: new Map(
      dependencies
        .map((dependency) => artifacts.get(dependency))
        .filter((dependency) => dependency?.type === "cdk:asset-manifest")
        .flatMap((dependency) => readAssets(folder, id, dependency?.properties.file)),
    ),
  };
}

/** Assets may be outside the folder: if staging is switched off, they are the sources themselves. */
function readAssets(folder: string, id: string, file: unknown): [string, Asset][] {
  const what = `assets of ${id}`;
  const files = objectOf(readObject(pathInside(folder, file, what)).files, what);
  return Object.values(files).flatMap((each) => {
    const { source, destinations } = objectOf(each ?? "nothing", what);
    const { path = "", packaging = "file" } = objectOf(source, what);
    return Object.values(objectOf(destinations, what)).map((destination): [string, Asset] => {
      const { objectKey } = objectOf(destination ?? "nothing", what);
      return [String(objectKey), { path: resolve(folder, String(path)), packaging: String(packaging) }];
    });
  });
}

function inDependencyOrder(artifacts: ReadonlyMap<string, Artifact>): [string, Artifact][] {
  const order = new Map<string, Artifact>();
  const visit = (id: string, path: readonly string[]): void => {
    const artifact = artifacts.get(id);
    if (order.has(id) || artifact === undefined) return;
    if (path.includes(id)) throw faultOf(`circular dependency: ${path.join(", ")}`);
    for (const dependency of artifact.dependencies) visit(dependency, [...path, id]);
    order.set(id, artifact);
  };
  for (const id of artifacts.keys()) visit(id, []);
  return [...order];
}
