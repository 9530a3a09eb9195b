import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type { SerializedError, TestModule } from "vitest/node";
import ClosingLine from "./closing-line.ts";

type State = "passed" | "failed" | "skipped" | "pending";

function moduleWith(states: State[], errors: SerializedError[] = []): TestModule {
  const tests = states.map((state) => ({ result: () => ({ state }) }));
  return { errors: () => errors, children: { allTests: () => tests } } as unknown as TestModule;
}

function printedFor(modules: TestModule[], unhandled: SerializedError[] = []): string {
  const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
  onTestFinished(() => write.mockRestore());
  new ClosingLine().onTestRunEnd(modules, unhandled);
  return write.mock.calls.map(([text]) => String(text)).join("");
}

const ERROR: SerializedError = { message: "cannot be loaded" };

// The counts of this run are real ones, and those of these tests are not.
beforeEach(() => void vi.stubEnv("ONCEONLY_COUNTS", ""));
afterEach(() => void vi.unstubAllEnvs());

describe("ClosingLine", () => {
  it.each([
    ["all passed", [moduleWith(["passed", "passed"]), moduleWith(["passed"])], [], "3 passed, 0 failed"],
    ["some failed", [moduleWith(["passed", "failed"])], [], "1 passed, 1 failed"],
    ["some skipped", [moduleWith(["passed", "skipped", "pending"])], [], "1 passed, 0 failed, 2 skipped"],
    ["a file that cannot be loaded", [moduleWith([], [ERROR])], [], "0 passed, 1 failed"],
    ["an error outside of every test", [moduleWith(["passed"])], [ERROR], "1 passed, 1 failed"],
  ])("ends with one plain line: %s", (_, modules, unhandled, line) => {
    expect(printedFor(modules, unhandled)).toBe(`\n${line}\n`);
  });

  it("writes its counts to a file if several runs are summed", () => {
    const file = join(mkdtempSync(join(tmpdir(), "counts-")), "counts");
    vi.stubEnv("ONCEONLY_COUNTS", file);
    printedFor([moduleWith(["passed", "skipped"])]);
    printedFor([moduleWith(["passed", "failed"])]);

    expect(
      readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { passed: 1, failed: 0, skipped: 1 },
      { passed: 1, failed: 1, skipped: 0 },
    ]);
  });
});
