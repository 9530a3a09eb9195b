// CHANGELOG.md is as `npm run changelog` writes it, so that its next release is one command.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parser } from "keep-a-changelog";
import { describe, expect, it } from "vitest";
import { PROJECT_URL } from "../../lib/contract.ts";
import { manifest, root } from "../kit/project.ts";

const text = readFileSync(join(root, "CHANGELOG.md"), "utf8");
const changelog = parser(text);

describe("the changelog", () => {
  it("is written as npm run changelog writes it", () => {
    changelog.format = "markdownlint";
    changelog.url = PROJECT_URL;

    expect(text).toBe(changelog.toString());
  });

  it("has the version of package.json, or its successor, as the newest release", () => {
    const versions = changelog.releases.map(({ version }) => version);

    expect(versions.slice(0, 2)).toContain(manifest.version);
  });

  it("leaves only the newest release without a date", () => {
    expect(changelog.releases.slice(1).filter(({ date }) => !date)).toEqual([]);
  });
});
