// test/README.md leads to every folder, and the names of helpers are those that it says.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../../kit/project.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");

const filesIn = (folder: string) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => path.endsWith(".ts"));

describe("test/README.md", () => {
  it("names every folder of tests", () => {
    const page = read("test/README.md");
    const folders = new Set(filesIn("test").map((path) => path.split("/")[0]!));

    const missing = [...folders].filter((folder) => !page.includes(`test/${folder}`));

    expect(missing.sort()).toEqual(["fixtures", "setup"]);
  });

  it("says how helpers are named, and they are", () => {
    const named = /(^|[/-])(given|world)\.ts$|\.test\.ts$/;
    const placed = /^(model|setup)\/|(^|\/)(cases|fixtures|plays|seeded-bugs)\//;

    expect(filesIn("test").filter((path) => !named.test(path) && !placed.test(path))).toEqual([]);
  });
});

describe("kit/README.md", () => {
  it("names every file, or its folder", () => {
    const page = read("kit/README.md");

    const missing = filesIn("kit").filter((path) => !page.includes(`(${path.replace(/\/.*/, "")})`));

    expect(missing).toEqual([]);
  });
});
