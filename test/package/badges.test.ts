// The badges say what was measured: npx vitest run test/package/badges.test.ts -u
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { badge, coverageBadge } from "../../tools/badges.mjs";
import { bundled } from "../kit/bundled.ts";
import { root } from "../kit/project.ts";

const PEERS = ["@aws-sdk/*", "@middy/*", "@opentelemetry/*"];
const folder = join(root, "docs/badges");

/** Whole kilobytes, so that a badge changes when the size does, and not with each line. */
async function kilobytesOf(source: string): Promise<number> {
  const { outputFiles } = await bundled(source, PEERS);
  const bytes = outputFiles.map(({ contents }) => gzipSync(contents, { level: 9 }).byteLength);
  return Math.ceil(bytes.reduce((sum, each) => sum + each, 0) / 1000);
}

describe("38.8: the badge of a size", () => {
  it.each([
    ["runOnce", 'export { DynamoDBStore } from "onceonly/dynamodb"; export { runOnce } from "onceonly";'],
    [
      "httpIdempotent",
      'export { DynamoDBStore } from "onceonly/dynamodb"; export { httpIdempotent } from "onceonly";',
    ],
    ["idempotentFetch", 'export { idempotentFetch } from "onceonly/client";'],
  ])("of %s is the size of the bundle", async (name, source) => {
    const label = name === "idempotentFetch" ? name : `${name} + DynamoDB`;

    await expect(badge(label, `${await kilobytesOf(source)} kB gzip`, "teal")).toMatchFileSnapshot(
      join(folder, `size-${name}.svg`),
    );
  });
});

describe("38.8: the badge of the coverage", () => {
  const summary = (lines: number, branches: number) => ({
    total: { lines: { pct: lines }, branches: { pct: branches } },
  });

  it("says 100 % only of everything", () => {
    expect(coverageBadge(summary(100, 100))).toContain("messaging: 100 %");
    expect(coverageBadge(summary(99.96, 100))).toContain("messaging: 99.9 %, branches 100 %");
  });

  it("says what the last run measured, if there was one", () => {
    const [measured, shown] = ["coverage/coverage-summary.json", "docs/badges/coverage.svg"].map((file) =>
      join(root, file),
    );
    if (!existsSync(measured!) || !existsSync(shown!)) return;
    expect(readFileSync(shown!, "utf8")).toBe(coverageBadge(JSON.parse(readFileSync(measured!, "utf8"))));
  });

  it("is a picture of its own, which asks no other host", () => {
    for (const file of readdirSync(folder)) {
      const svg = readFileSync(join(folder, file), "utf8");
      expect(svg.replaceAll("http://www.w3.org/2000/svg", "")).not.toMatch(/https?:/);
    }
  });
});
