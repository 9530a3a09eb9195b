// Reads a cloud assembly, the folder that `cdk synth` writes: its stacks in the order in which they need each
// other, each with its template and the folders of its assets. Reads files only.
// https://github.com/aws/aws-cdk/blob/main/packages/aws-cdk-lib/cx-api/README.md
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Template } from "./template.ts";

export interface SynthesizedStack {
  readonly name: string;
  /** `undefined` where the app leaves it open. */
  readonly region: string | undefined;
  readonly template: Template;
  /** The folder or file of an asset, by the S3 key under which the template asks for it. */
  readonly assets: ReadonlyMap<string, Asset>;
}

export interface Asset {
  readonly path: string;
  readonly packaging: string;
}

interface Manifest {
  readonly artifacts?: Readonly<Record<string, Artifact>>;
}

interface Artifact {
  readonly type: string;
  readonly environment?: string;
  readonly dependencies?: readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
}

interface AssetManifest {
  readonly files?: Readonly<Record<string, FileAsset>>;
}

interface FileAsset {
  readonly source: { readonly path?: string; readonly packaging?: string };
  readonly destinations: Readonly<Record<string, { readonly objectKey: string }>>;
}

/** The stacks of an assembly and of the stages nested in it. */
export function readAssembly(folder: string): SynthesizedStack[] {
  const artifacts = readJson<Manifest>(join(folder, "manifest.json")).artifacts ?? {};
  return inDependencyOrder(artifacts).flatMap((id) => {
    const artifact = artifacts[id] as Artifact;
    if (artifact.type === "cdk:cloud-assembly") {
      return readAssembly(join(folder, String(artifact.properties?.directoryName)));
    }
    return artifact.type === "aws:cloudformation:stack" ? [readStack(folder, id, artifact, artifacts)] : [];
  });
}

function readStack(
  folder: string,
  id: string,
  artifact: Artifact,
  artifacts: Readonly<Record<string, Artifact>>,
): SynthesizedStack {
  const region = artifact.environment?.split("/").at(-1);
  return {
    name: String(artifact.properties?.stackName ?? id),
    region: region === "unknown-region" ? undefined : region,
    template: readJson<Template>(join(folder, String(artifact.properties?.templateFile))),
    assets: new Map(
      (artifact.dependencies ?? [])
        .map((dependency) => artifacts[dependency])
        .filter((dependency) => dependency?.type === "cdk:asset-manifest")
        .flatMap((dependency) => readAssets(folder, String(dependency?.properties?.file))),
    ),
  };
}

function readAssets(folder: string, file: string): [string, Asset][] {
  return Object.values(readJson<AssetManifest>(join(folder, file)).files ?? {}).flatMap(
    ({ source, destinations }) =>
      Object.values(destinations).map(({ objectKey }): [string, Asset] => [
        objectKey,
        { path: resolve(folder, source.path ?? ""), packaging: source.packaging ?? "file" },
      ]),
  );
}

function inDependencyOrder(artifacts: Readonly<Record<string, Artifact>>): string[] {
  const order = new Set<string>();
  const visit = (id: string): void => {
    if (order.has(id) || !(id in artifacts)) return;
    for (const dependency of artifacts[id]?.dependencies ?? []) visit(dependency);
    order.add(id);
  };
  for (const id of Object.keys(artifacts)) visit(id);
  return [...order];
}

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, "utf8"));
}
