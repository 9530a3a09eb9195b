// Comments and documents are in sentences that a reader can follow: tools/sentences.mjs lists those that are not.
import { describe, expect, it } from "vitest";

interface Finding {
  readonly line: number;
  readonly problem: "long" | "start";
  readonly words: number;
  readonly text: string;
}
interface Script {
  findingsOf(file: string, text: string): readonly Finding[];
  findingsBelow(
    paths?: readonly string[],
  ): readonly { readonly file: string; readonly findings: readonly Finding[] }[];
}
const script = new URL("../../tools/sentences.mjs", import.meta.url).href;
const { findingsOf, findingsBelow } = (await import(script)) as Script;

const many = (count: number, word = "word") => Array.from({ length: count }, () => word).join(" ");
const found = (file: string, text: string) =>
  findingsOf(file, text).map(({ line, problem, words }) =>
    problem === "long" ? `${line}: ${words}` : `${line}: start`,
  );
const inCode = (text: string) => found("a.ts", text);
const inDocument = (text: string) => found("a.md", text);

describe("the sentences of comments", () => {
  it("may have 25 words, and no more", () => {
    expect(inCode(`// ${many(25)}.`)).toEqual([]);
    expect(inCode(`// ${many(26)}.`)).toEqual(["1: 26"]);
    expect(inCode(`// ${many(20)}. ${many(20)}! ${many(20)}? ${many(5)}`)).toEqual([]);
  });

  it("go on over lines, whichever kind of comment they are in", () => {
    expect(inCode(`const a = 1;\n  // ${many(20)}\n  // ${many(6)}.`)).toEqual(["2: 26"]);
    expect(inCode(`/**\n * Short.\n *\n * ${many(20)}\n * ${many(6)}.\n */`)).toEqual(["4: 26"]);
    expect(inCode(`/* ${many(20)}\n   ${many(6)}. */`)).toEqual(["1: 26"]);
    expect(inCode(`a(); // ${many(20)}\n// ${many(6)}.`)).toEqual([]);
  });

  it("begin anew with each tag, and examples and types are none", () => {
    expect(
      inCode(`/**\n * ${many(20)}\n * @param {string} name - ${many(20)}\n * @default ${many(20)}\n */`),
    ).toEqual([]);
    expect(inCode(`/**\n * Short.\n * @throws OnceError ${many(26)}\n */`)).toEqual(["3: 27"]);
    expect(inCode(`/**\n * @example\n * ${many(30)}\n */`)).toEqual([]);
    expect(inCode(`/**\n * ${"```"}ts\n * ${many(30)}\n * ${"```"}\n */`)).toEqual([]);
  });

  it("are not looked for in strings, templates and regular expressions", () => {
    const long = many(26);
    expect(inCode(`const a = "// ${long}"; const b = '/* ${long} */';`)).toEqual([]);
    expect(inCode(`const a = \`// ${long} \${b({ c: \`// ${long}\` })} // ${long}\`;\n// ${long}`)).toEqual([
      "2: 26",
    ]);
    expect(inCode(`const a = /["'\`/]\\/\\/ x/; const b = c / d; // ${long}`)).toEqual(["1: 26"]);
    expect(inCode(`return /\\/* ${long}/;`)).toEqual([]);
  });

  it("are not looked for in what is said to a tool", () => {
    expect(inCode(`// biome-ignore lint/a/b: ${many(30)}`)).toEqual([]);
    expect(inCode(`/** @type {import("x").Y} ${many(30)} */`)).toEqual([]);
  });
});

describe("the sentences of documents", () => {
  it("end with their list item, their heading and their paragraph", () => {
    expect(inDocument(`# ${many(20)}\n${many(20)}\n\n- ${many(20)}\n- ${many(20)}\n1. ${many(20)}`)).toEqual(
      [],
    );
    expect(inDocument(`- ${many(20)}\n  ${many(6)}`)).toEqual(["1: 26"]);
    expect(inDocument(`Short. ${many(3)}\n${many(24)}.`)).toEqual(["1: 27"]);
  });

  it("are not looked for in tables, code and comments", () => {
    expect(
      inDocument(`| ${many(30)} |\n\n~~~\n${many(30)}\n~~~\n\n<!-- ${many(30)}\n-->\n${many(26)}`),
    ).toEqual(["9: 26"]);
  });

  it("count a code span as one word, a link by its text, and a sign not at all", () => {
    expect(inDocument(`${many(24)} \`a b <c> d\``)).toEqual([]);
    expect(inDocument(`${many(23)} [two words](https://a.b/c "title of it")`)).toEqual([]);
    expect(inDocument(`${many(24)} → https://example.com/a`)).toEqual([]);
    expect(inCode(`/** ${many(24)} {@link some.thing | name} */`)).toEqual([]);
  });

  it("do not end with an abbreviation or a number", () => {
    expect(inDocument(`${many(13)} (e.g. 3.5 KB) ${many(13)}.`)).toEqual(["1: 29"]);
    expect(inDocument(`${many(20)} "quoted." ${many(20)}`)).toEqual([]);
  });
});

describe("the start of a sentence", () => {
  it.each([
    "Whose condition refused it is an answer",
    "What of the rest is there.",
    "So let no amount be made.",
    "Where it ends, it ends.",
    "Of the same.",
    "So long an answer is waited for.",
    "Whoever has the claim may write.",
    "Else the handler runs.",
  ])("is no English in: %s", (text) => {
    expect(inCode(`/** ${text} */`)).toEqual(["1: start"]);
  });

  it.each([
    "Whose turn is it?",
    "Where records are kept.",
    "Often it ends, sometimes not.",
    "What a record says.",
  ])("is English in: %s", (text) => {
    expect(inCode(`// ${text}`)).toEqual([]);
  });
});

it("holds for all comments and all documents", () => {
  const wrong = findingsBelow().flatMap(({ file, findings }) =>
    findings.map(
      ({ line, problem, words, text }) => `${file}:${line}: ${problem === "long" ? words : problem}: ${text}`,
    ),
  );
  expect(wrong).toEqual([]);
});
