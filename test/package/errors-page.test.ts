// docs/reference/errors.md has one row per error, in the order of the code, and says what the code says.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as clientErrors from "../../lib/client/errors.ts";
import * as coreErrors from "../../lib/core/errors.ts";
import { PROBLEM_STATUSES } from "../../lib/lambda/http/problem.ts";
import { root } from "../kit/project.ts";

const BASES: readonly string[] = ["OnceonlyError", "IdempotentFetchError"];

const read = (file: string) => readFileSync(join(root, file), "utf8");
const [corePage = "", clientPage = ""] = read("docs/reference/errors.md").split(/^## `onceonly\/client`$/m);

describe("docs/reference/errors.md", () => {
  it.each([
    [
      ["lib/core/errors.ts", "lib/core/handler-errors.ts", "lib/core/messages/errors.ts"],
      coreErrors,
      corePage,
    ],
    [["lib/client/errors.ts"], clientErrors, clientPage],
  ])("has a row for every error of %s, in the order of the code", (files, module, page) => {
    const errors = errorsOf(module, files.map(read).join());

    expect(errors.length).toBeGreaterThan(1);
    expect(rowsOf(page).map((row) => row.slice(0, 3))).toEqual(errors);
  });

  it("has an anchor for each type of problem", () => {
    for (const code of Object.keys(PROBLEM_STATUSES)) {
      expect(corePage).toContain(`<a id="${code.toLowerCase()}"></a>`);
    }
  });

  it("names the HTTP status that each code is answered with", () => {
    const statuses = Object.fromEntries(rowsOf(corePage).map(([, code, , status]) => [code, status]));
    const answered = Object.entries(PROBLEM_STATUSES).map(([code, status]) => [code, `${status}`]);

    expect(statuses).toMatchObject({ ...Object.fromEntries(answered), SCOPE_MISSING: "401, 403" });
  });
});

/** Class, code and whether it is retryable, of every concrete error, in the order of the source. */
function errorsOf(module: Readonly<Record<string, unknown>>, source: string): string[][] {
  const position = (name: string) => source.indexOf(`export class ${name} `);
  return Object.entries(module)
    .filter(([name, exported]) => isErrorClass(exported) && !BASES.includes(name))
    .sort(([left], [right]) => position(left) - position(right))
    .map(([name, exported]) => {
      // What the constructor is given does not matter for what all of a class have in common.
      const error = Reflect.construct(exported as typeof Error, ["a", "b", "c"]);
      expect(error.name).toBe(name);
      return [name, error.code, error.retryable ? "yes" : "no"];
    });
}

function isErrorClass(exported: unknown): boolean {
  return typeof exported === "function" && exported.prototype instanceof Error;
}

/** Class, code, whether it is retryable, and the next column, of each row. */
function rowsOf(page: string): string[][] {
  return [...page.matchAll(/^\| (?:<a id="\w+"><\/a>)?`(\w+)` \| `(\w+)` \| (\w+) \| ([^|]*) \|/gm)].map(
    (row) => row.slice(1),
  );
}
