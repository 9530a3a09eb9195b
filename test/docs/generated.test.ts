// The generated parts of documents, and the code in them that comes from files. `npx vitest run test/docs/generated.test.ts -u`
// writes the files into their documents.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { expectGenerated, isFile, partsIn, withGenerated } from "../kit/generated.ts";
import { documents, root } from "../kit/project.ts";
import { testFiles } from "./given.ts";

const read = (file: string) => readFileSync(join(root, file), "utf8");
const namesIn = (document: string) => Object.keys(partsIn(read(document)));

describe("a document", () => {
  const generated = documents.filter((document) => namesIn(document).length > 0);
  const showFiles = generated.filter((document) => namesIn(document).every(isFile));

  it.each(showFiles)("shows its files as they are: %s", (document) => expectGenerated(document));

  it("is compared by a test if it has other generated parts", () => {
    const tests = readdirSync(join(root, "test/docs"))
      .map((name) => read(`test/docs/${name}`))
      .concat(testFiles().map(({ source }) => source))
      .filter((source) => source.includes("expectGenerated"));
    const others = generated.filter((document) => !showFiles.includes(document));

    expect(others.length).toBeGreaterThan(0);
    expect(others.filter((document) => !tests.some((source) => source.includes(document)))).toEqual([]);
  });
});

describe("withGenerated", () => {
  const part = (name: string, text: string) => `<!-- generated: ${name} -->\n${text}\n<!-- end -->`;

  it("replaces what stands between the markers, and nothing else", () => {
    const page = (text: string) => `a\n\n${part("t", text)}\n\nb\n\n${part("two words", text)}\n`;

    expect(withGenerated(page("old"), { t: "new", "two words": "new" })).toBe(page("\nnew\n"));
  });

  it("shows a file in the part that has its name", () => {
    const file = "examples/sqs-fifo/producer.ts";
    const page = (code: string) =>
      `${part(file, `\n\`\`\`ts\n${code}\`\`\`\n`)}\n\n\`\`\`ts\nconst own = 1;\n\`\`\`\n`;

    expect(withGenerated(page("old();\n"), {})).toBe(page(read(file)));
  });

  it.each([
    ["no such part", "a\n", { t: "new" }, "the page has no <!-- generated: t -->"],
    ["a part that nothing generates", part("t", ""), {}, "the page has a part t, which nothing generates"],
    ["a file that isn't there", part("examples/none.ts", ""), {}, "there is no examples/none.ts"],
    ["a part without an end", `<!-- generated: a -->\n${part("t", "")}`, { a: "" }, "a part without a"],
    ["an end without a part", `${part("t", "")}\n<!-- end -->`, { t: "" }, "a part without a beginning"],
    ["two parts of one name", `${part("t", "")}\n${part("t", "")}`, { t: "" }, "or two of one name"],
  ])("refuses a page with %s", (_, page, parts, message) => {
    expect(() => withGenerated(page, parts as Record<string, string>)).toThrow(message);
  });
});
