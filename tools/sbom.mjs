// A software bill of materials (CycloneDX) of the package as it is published: its dependencies, and the packages that the
// bundled functions contain. npm builds it from the lockfile, for what installing the library installs, and without the time,
// so the same sources give the same file.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const manifest = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
const NPM = ["sbom", "--sbom-format", "cyclonedx", "--sbom-type", "library", "--package-lock-only"];

/** npm's description of the whole lockfile, as JSON. */
export function listLocked() {
  const isWindows = process.platform === "win32";
  const made = spawnSync("npm", NPM, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26, shell: isWindows });
  if (made.status !== 0) throw new Error(`npm ${NPM.join(" ")} failed: ${made.stderr}`);
  return JSON.parse(made.stdout);
}

/** What installing the library installs: its own dependencies and theirs. Neither peers nor the sibling packages. */
function dependenciesOf(dependencies) {
  const edges = new Map(dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
  const found = new Set(
    Object.entries(manifest.dependencies ?? {}).map(([name, version]) => `${name}@${version}`),
  );
  for (const ref of found) for (const next of edges.get(ref) ?? []) found.add(next);
  return found;
}

/**
 * @param {readonly { name: string, version: string }[]} bundled
 * @param {ReturnType<typeof listLocked>} locked
 * @returns the document, as JSON can hold it
 */
export function billOfMaterials(bundled, locked = listLocked()) {
  const { serialNumber: _, metadata, components, dependencies, ...rest } = locked;
  const { timestamp: __, component, ...about } = metadata;
  const refs = new Set(bundled.map(({ name, version }) => `${name}@${version}`));
  const ofLibrary = dependenciesOf(dependencies);
  const published = components
    .filter((part) => refs.has(part["bom-ref"]) || ofLibrary.has(part["bom-ref"]))
    .map((part) =>
      refs.has(part["bom-ref"])
        ? { ...part, properties: [{ name: "cdx:npm:package:bundled", value: "true" }] }
        : part,
    );
  const known = new Set([component["bom-ref"], ...published.map((part) => part["bom-ref"])]);
  const missing = [...refs].filter((ref) => !known.has(ref));
  if (missing.length > 0) throw new Error(`bundled, and not in the lockfile: ${missing.join(", ")}`);
  return {
    ...rest,
    // npm uses the folder's name.
    metadata: { ...about, component: { ...component, name: component["bom-ref"].split("@")[0] } },
    components: published,
    dependencies: dependencies
      .filter(({ ref }) => known.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => known.has(other)) })),
  };
}
