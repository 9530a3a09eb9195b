// What the tarball carries of others is named, with its licence, and publishing says where it was made.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROJECT_URL } from "../../lib/contract.ts";
import { manifest, root } from "../kit/project.ts";
import { PACKAGES } from "./tarball-given.ts";

interface Bundled {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly folder: string;
}

interface Component {
  readonly "bom-ref": string;
  readonly name: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly licenses?: readonly unknown[];
  readonly properties: readonly { readonly name: string }[];
}

interface Bill {
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/** The build's own parts, which are JavaScript without types. */
const tool = (file: string): Promise<unknown> => import(join(root, "tools", file));
const { prebuildFunctions } = (await tool("prebuild.mjs")) as {
  prebuildFunctions(dist: string): Promise<readonly Bundled[]>;
};
const { billOfMaterials, listLocked } = (await tool("sbom.mjs")) as {
  billOfMaterials(bundled: readonly Pick<Bundled, "name" | "version">[], locked: unknown): Bill;
  listLocked(): unknown;
};

const { noticesOf } = (await tool("notices.mjs")) as { noticesOf(packages: readonly Bundled[]): string };

/** As if the functions carried them: one of them comes without the text of its licence. */
const BUNDLED = ["@aws-sdk/client-sqs", "@smithy/signature-v4", "tslib"];

async function installed(name: string): Promise<Bundled> {
  const home = join(root, "node_modules", name);
  const { version, license } = JSON.parse(await readFile(join(home, "package.json"), "utf8"));
  return { name, version, license, folder: home };
}

let folder: string;
let bundled: readonly Bundled[];
let carried: readonly Bundled[];
let notices: string;
let locked: unknown;
let bill: Bill;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "supply-"));
  carried = await prebuildFunctions(folder);
  bundled = await Promise.all(BUNDLED.map(installed));
  notices = noticesOf(bundled);
  locked = listLocked();
  bill = billOfMaterials(bundled, locked);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

describe("the notices", () => {
  it("name each package that functions carry, with its licence", () => {
    for (const { name, version, license } of bundled)
      expect(notices).toContain(`${name} ${version} (${license})\n`);
  });

  it("contain each licence and notice of those packages", async () => {
    for (const { folder: installed } of bundled) {
      const files = (await readdir(installed)).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
      for (const file of files) {
        const text = (await readFile(join(installed, file), "utf8")).trim();
        expect(notices).toContain(text);
      }
    }
  });

  it("are left out, since the functions carry no code of others", async () => {
    const source = await readFile(join(folder, "functions/outbox/index.mjs"), "utf8");

    expect(source.length).toBeGreaterThan(10_000);
    expect(carried).toEqual([]);
    expect(await readdir(join(folder, "functions"))).toEqual(["outbox"]);
  });
});

describe("the bill of materials", () => {
  it("is CycloneDX, of this package, and the same from the same sources", () => {
    expect(bill).toMatchObject({
      bomFormat: "CycloneDX",
      specVersion: expect.stringMatching(/^1\.\d$/),
      metadata: {
        component: {
          name: "onceonly",
          version: manifest.version,
          purl: `pkg:npm/onceonly@${manifest.version}`,
        },
      },
    });
    expect(bill).not.toHaveProperty("serialNumber");
    expect(JSON.stringify(bill)).not.toContain("timestamp");
    expect(billOfMaterials(bundled, listLocked())).toEqual(bill);
  });

  it("lists the dependencies and the functions' bundled packages, each with hash and licence, and nothing else", () => {
    const expected = [
      ...Object.entries((manifest.dependencies ?? {}) as Record<string, string>),
      ...bundled.map(({ name, version }) => [name, version] as const),
    ].map(([name, version]) => `${name}@${version}`);

    expect(bill.components.map((part) => part["bom-ref"]).sort()).toEqual(expected.sort());
    for (const { hashes, licenses, purl } of bill.components) {
      expect(hashes).toEqual([{ alg: "SHA-512", content: expect.stringMatching(/^[\da-f]{128}$/) }]);
      expect(licenses).toHaveLength(1);
      expect(purl).toMatch(/^pkg:npm\//);
    }
  });

  it("names no registry, and no dependency that it does not list", () => {
    const refs = bill.dependencies.flatMap(({ ref, dependsOn }) => [ref, ...dependsOn]);
    const known = ["onceonly", ...bill.components.map(({ name }) => name)];

    expect(JSON.stringify(bill.components)).not.toMatch(/https?:/);
    expect(refs.filter((ref) => !known.includes(ref.replace(/(?<=.)@.*$/, "")))).toEqual([]);
  });

  it("rejects a bundle with a package that the lockfile does not know", () => {
    expect(() => billOfMaterials([{ name: "left-pad", version: "1.3.0" }], locked)).toThrow("left-pad@1.3.0");
  });
});

describe("publishing", () => {
  it("is done with provenance, by a job that runs no third-party code on the artifact that another job has verified", async () => {
    const workflow = await readFile(join(root, ".github/workflows/publish.yml"), "utf8");
    const [pack = "", publish = ""] = workflow.split(/^ {2}publish:$/m);
    const used = [...workflow.matchAll(/uses: (\S+)/g)].map(([, action]) => action);

    for (const folder of Object.values(PACKAGES)) {
      const { publishConfig, repository } = JSON.parse(
        await readFile(join(root, folder, "package.json"), "utf8"),
      );
      expect(publishConfig).toEqual({ access: "public", provenance: true });
      expect(repository).toMatchObject({ type: "git", url: `git+${PROJECT_URL}.git` });
    }
    expect(workflow).toMatch(/^permissions: \{\}$/m);
    expect(workflow).not.toMatch(/secrets\.|pull_request/);
    for (const action of used) expect(action).toMatch(/@[\da-f]{40}$/);
    expect(pack).toMatch(/run: \.ci\/run[\s\S]*run: npm pack/);
    expect(pack).not.toContain("id-token");
    expect(publish).toContain("id-token: write");
    expect([...publish.matchAll(/run: (.*)/g)].map(([, command]) => command)).toEqual([
      'for tarball in onceonly-[0-9]*.tgz onceonly-explorer-*.tgz onceonly-local-*.tgz onceonly-cli-*.tgz; do npm publish "./$tarball" --provenance --access public; done',
    ]);
  });
});
