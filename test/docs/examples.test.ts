// Each example has a README that answers its question, and a test with the titles that the README shows.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../kit/project.ts";

const read = (file: string) => readFileSync(join(root, file), "utf8");

describe("the folder of examples", () => {
  const folders = readdirSync(join(root, "examples"), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

  it("is listed whole in its README", () => {
    const listed = [...read("examples/README.md").matchAll(/^\| .*\]\((.*)\) \|$/gm)].map(([, name]) => name);

    expect(listed.sort()).toEqual(folders.sort());
  });

  it.each(folders)("has a README whose question, command, output and links are right: %s", (name) => {
    const readme = read(`examples/${name}/README.md`);
    const [own, ours] = [`examples/${name}/handler.test.ts`, `test/examples/${name}.test.ts`];
    const test = read(existsSync(join(root, own)) ? own : ours);
    const titles = [...test.matchAll(/^ *it\(\s*"(.+?)",/gm)].map(([, title]) => `✓ ${title}`);
    const [, question] = /^\*\*(.+\?)\*\*$/m.exec(readme) ?? [];

    expect(read("examples/README.md")).toContain(`| ${question} | [${name}](${name}) |`);
    expect(readme).toContain(`npx vitest run examples/${name} `);
    expect(readme).toContain(["```", ...titles, "```"].join("\n"));
    for (const [, link] of readme.matchAll(/\]\(([^)#]+)/g))
      expect(existsSync(join(root, "examples", name, link!)), link).toBe(true);
  });
});
