// Code in the documents that comes from a file: `<!-- from examples/outbox/handler.ts -->` directly above a ts fence.
// `npx vitest run test/docs/examples.test.ts -u` writes the file into the fence.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { documents, root } from "../kit/project.ts";

const MARKED = /^<!-- from (\S+) -->\n(```ts\n.*?^```$)?/gms;

const read = (file: string) => readFileSync(join(root, file), "utf8");

/** The document with each marked fence as its file is now. @throws Error for a marker without a fence or a file */
function withFiles(document: string): string {
  return document.replace(MARKED, (_, file: string, fence?: string) => {
    if (!existsSync(join(root, file))) throw new Error(`there is no ${file}, from which a fence should come`);
    if (fence === undefined) throw new Error(`no ts fence stands directly below the marker of ${file}`);
    return `<!-- from ${file} -->\n\`\`\`ts\n${read(file)}\`\`\``;
  });
}

describe("a document", () => {
  const marked = documents.filter((file) => read(file).includes("<!-- from "));

  it.each(marked)("shows its examples as they are: %s", async (file) => {
    await expect(withFiles(read(file))).toMatchFileSnapshot(join(root, file));
  });

  const file = "examples/sqs-fifo/producer.ts";

  it("gets a fence replaced that differs from its file, and nothing else", () => {
    const page = (code: string) =>
      `# A\n\n<!-- from ${file} -->\n\`\`\`ts\n${code}\`\`\`\n\n\`\`\`ts\nconst own = 1;\n\`\`\`\n`;

    expect(withFiles(page("old();\n"))).toBe(page(read(file)));
  });

  it.each([
    ["file", "<!-- from examples/none.ts -->\n```ts\n```\n", /there is no examples\/none\.ts/],
    ["fence", `<!-- from ${file} -->\n\n\`\`\`ts\n\`\`\`\n`, /no ts fence/],
    ["fence in TypeScript", `<!-- from ${file} -->\n\`\`\`sh\n\`\`\`\n`, /no ts fence/],
  ])("is refused if a marker has no %s", (_, page, message) => {
    expect(() => withFiles(page)).toThrow(message);
  });
});

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
