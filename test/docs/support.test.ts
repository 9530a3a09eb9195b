// docs/reference/support.md says what the manifests, the rules and the tools say.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { OLDEST_CDK } from "../../lib/cdk/installed.ts";
import { manifest, root } from "../kit/project.ts";
import { NODE_ROWS, SUPPORT_ROWS, TESTED_NODES } from "../kit/support.ts";

const read = (file: string) => readFileSync(join(root, file), "utf8");
const majorOf = (text: string) => Number(/\d+/.exec(text)?.[0]);
const oldest = NODE_ROWS.at(-1)!;

/** The row of each package, by the name in backticks. */
const rows = new Map(
  SUPPORT_ROWS.flatMap(([what = "", accepted = "", tested = ""]) => {
    const name = /`([@\w/-]+)`/.exec(what)?.[1];
    return name ? [[name, { accepted: accepted.replaceAll("`", ""), tested }] as const] : [];
  }),
);

describe("docs/reference/support.md, about Node.js", () => {
  it("names the version that every package declares", () => {
    const folders = [".", "packages/cli", "packages/explorer", "packages/local"];
    const declared = folders.map((folder) => JSON.parse(read(join(folder, "package.json"))).engines.node);

    expect(new Set(declared)).toEqual(new Set([`>=${oldest.version.replace(" or later", "")}`]));
  });

  it.each([
    ["npx onceonly", ["--import", "tsx", "bin/onceonly.ts", "version"]],
    ["npm run demo and npm start", ["tools/check-node.mjs"]],
  ])("5: %s names the oldest version on an older one, and no version on that one", (_, command) => {
    const on = (node: string) => {
      const versions = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "${node}" } });
        Object.defineProperty(process, "version", { value: "v${node}" })`;
      return spawnSync(
        process.execPath,
        ["--import", `data:text/javascript,${encodeURIComponent(versions)}`, ...command],
        {
          cwd: root,
          encoding: "utf8",
        },
      );
    };

    const [version] = oldest.version.split(" ");
    const refused = `onceonly needs Node.js ${version} or later, and this is v`;
    for (const older of ["18.20.8", "20.18.3"])
      expect(on(older)).toMatchObject({ status: 1, stderr: expect.stringContaining(refused + older) });
    expect(on(`${version}.0`).stderr).not.toContain(refused);
  });

  it("is tested on what tools/pinned-node.mjs installs, and on the Node that CI has", () => {
    const pinned = [...read("tools/pinned-node.mjs").matchAll(/version: "([\d.]+)"/g)].map(
      ([, found]) => found,
    );

    expect(TESTED_NODES).toEqual([...pinned.reverse(), oldest.tested]);
    expect(read(".github/workflows/ci.yml")).toContain(
      `node: [${NODE_ROWS.map(({ version }) => majorOf(version)).join(", ")}]`,
    );
  });

  it("calls deprecated what the constructs warn about, and supported what they create", () => {
    const rules = read("lib/cdk/rules/functions.ts");
    const deprecated = NODE_ROWS.filter(({ support }) => support.startsWith("deprecated"));

    expect(deprecated.map(({ runtime }) => runtime)).toEqual([oldest.runtime]);
    expect(rules).toContain(`.Runtime !== "${oldest.runtime}"`);
    expect(rules).toContain(`const OLDEST_NODE = ${majorOf(oldest.version)};`);
    const created = [
      "lib/cdk/idempotent-function-props.ts",
      "lib/cdk/outbox-relay.ts",
      "bin/plain-function.ts",
    ];
    for (const file of created)
      expect(read(file)).toContain(`runtime: Runtime.NODEJS_${majorOf(NODE_ROWS[0]!.version)}_X`);
  });
});

describe("docs/reference/support.md, about everything else", () => {
  const peers = Object.entries(manifest.peerDependencies).filter(
    ([name]) => !/^@aws-sdk\/client-(?!dynamodb)/.test(name),
  );

  it.each(peers)("accepts the versions of %s that package.json accepts", (name, range) => {
    expect(rows.get(name)?.accepted).toBe(range);
  });

  it.each([...rows].filter(([name]) => name !== "typescript"))(
    "is tested on the version of %s that is installed",
    (name, { tested }) => {
      expect(tested.split(", ")).toContain(manifest.devDependencies[name]);
    },
  );

  it("names the other versions that tests run on", () => {
    const aliased = (name: string) => manifest.devDependencies[name]?.split("@").at(-1);

    expect(rows.get("@aws-sdk/client-dynamodb")?.tested).toBe(
      [
        aliased("client-dynamodb-oldest"),
        manifest.devDependencies["@aws-sdk/client-dynamodb"],
        aliased("client-dynamodb-newest"),
      ].join(", "),
    );
    expect(rows.get("@middy/core")?.tested).toContain(
      JSON.parse(read("tools/middy-7/package.json")).dependencies["@middy/core"],
    );
    expect(rows.get("aws-cdk-lib")?.tested).toContain(OLDEST_CDK);
    expect(rows.get("typescript")?.tested).toBe(
      [manifest.devDependencies["@typescript/typescript6"], manifest.devDependencies.typescript].join(", "),
    );
  });
});
