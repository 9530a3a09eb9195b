// Each external fact is what the code says. The list, and how to check it again: external-facts-given.ts.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../kit/project.ts";
import { constantIn } from "./constants.ts";
import { EXTERNAL_FACTS, UNCHECKED } from "./external-facts-given.ts";

const SOURCES = ["lib", "packages/cli/lib", "packages/explorer/lib", "packages/local/lib"];

/** A number, a list or an object of numbers, directly below a comment with a link to AWS's documentation. */
const LINKED =
  /\/\*\*(?:(?!\*\/).)*?https:\/\/docs\.aws(?:(?!\*\/).)*?\*\/\s*\n(?:export )?const ([A-Z][A-Z_0-9]*) = (?:\d[\d_]*(?!\d*n)|\[\d|\{ ?\w+: ?\d)/gs;

describe("external facts", () => {
  it.each(EXTERNAL_FACTS.map((fact) => [fact.fact, fact] as const))("%s", (_, fact) => {
    const source = readFileSync(join(root, fact.in), "utf8");

    if (fact.constant) expect(constantIn(source, fact.constant[0])).toBe(fact.constant[1]);
    else expect(source.replace(/\s+/g, " ")).toContain(fact.says);
    expect(fact.source).toMatch(/^https:\/\//);
    expect(fact.read).toMatch(/^20\d\d-\d\d(-\d\d)?$|^unread$/);
  });

  it("include every constant that has a link to AWS above it", () => {
    const files = SOURCES.flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) =>
        join(folder, name),
      ),
    ).filter((file) => file.endsWith(".ts"));
    const missing = files.flatMap((file) => {
      const names = [...readFileSync(join(root, file), "utf8").matchAll(LINKED)].map(([, name]) => name!);
      const given = EXTERNAL_FACTS.filter((fact) => fact.in === file);
      const isListed = (name: string) =>
        given.some(({ constant, says = "" }) => constant?.[0] === name || says.includes(`const ${name} =`));
      return names.filter((name) => !isListed(name)).map((name) => `${file}: ${name}`);
    });

    expect(files.length).toBeGreaterThan(500);
    expect(missing).toEqual([]);
  });

  it("are each listed once, beside what could not be checked", () => {
    expect(new Set(EXTERNAL_FACTS.map(({ fact }) => fact)).size).toBe(EXTERNAL_FACTS.length);
    expect(UNCHECKED.length).toBeGreaterThan(0);
  });
});
