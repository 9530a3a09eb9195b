// What GitHub reads: a mistake in these files shows nowhere else before it is merged.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { root } from "../kit/project.ts";

const read = (file: string) => readFileSync(join(root, ".github", file), "utf8");
const inFolder = (folder: string) =>
  readdirSync(join(root, ".github", folder)).map((file) => `${folder}/${file}`);

describe("the workflows", () => {
  it.each(inFolder("workflows"))("%s pins each action by commit and version", (file) => {
    const used = [...read(file).matchAll(/uses: (.+)/g)].map(([, action]) => action);

    expect(used.length).toBeGreaterThan(0);
    expect(used.filter((action) => !/^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action!))).toEqual([]);
  });

  it("check pull requests with .ci/run, without write access", () => {
    const { on, permissions, jobs } = parse(read("workflows/ci.yml"));

    expect(on).toHaveProperty("pull_request");
    expect(permissions).toEqual({ contents: "read" });
    expect(jobs.verify.steps).toContainEqual({ run: ".ci/run" });
  });
});

describe("the issue forms", () => {
  it.each(inFolder("ISSUE_TEMPLATE").filter((file) => !file.endsWith("config.yml")))(
    "%s has what GitHub requires",
    (file) => {
      const { name, description, body } = parse(read(file));

      expect({ name, description }).toEqual({ name: expect.any(String), description: expect.any(String) });
      const fields = body.filter(({ type }: { type: string }) => type !== "markdown");
      expect(fields.every(({ attributes }: { attributes: { label?: string } }) => attributes.label)).toBe(
        true,
      );
      expect(new Set(fields.map(({ id }: { id: string }) => id)).size).toBe(fields.length);
    },
  );
});

describe("dependabot.yml", () => {
  it("names folders that have a manifest", () => {
    const { updates } = parse(read("dependabot.yml"));
    const folders: string[] = updates
      .filter((update: Record<string, string>) => update["package-ecosystem"] === "npm")
      .flatMap(({ directory, directories }: Record<string, string>) => directories ?? directory);

    expect(folders).toContain("/");
    expect(folders.filter((folder) => !existsSync(join(root, folder, "package.json")))).toEqual([]);
  });
});
