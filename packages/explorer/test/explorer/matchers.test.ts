import { describe, expect, it } from "vitest";
import type { Finding } from "../../lib/explorer/finding.ts";
import { exactlyOnceMatchers } from "../../lib/explorer/matchers.ts";
import { ExploreReport } from "../../lib/explorer/report.ts";

expect.extend(exactlyOnceMatchers);

const point = { number: 7, label: "dynamodb PutItem orders" };
const finding: Finding = {
  kind: "happens-twice",
  point,
  disturbance: "a crash after point 7 (dynamodb PutItem orders)",
  id: "7 crash-after",
  what: "2 items in orders instead of 1",
  trace: "first line\nsecond line",
  steps: [],
  seed: 3,
  advice: "move the write into commit",
};
const parts = {
  name: "create-order",
  points: [point],
  runs: 97,
  accepted: [],
  held: undefined,
  undone: undefined,
  seed: 3,
  undisturbed: "answer 201; 1 item in orders",
  leftOut: 0,
  masked: [],
  firstOnly: [],
};
const reportOf = (findings: readonly Finding[]) => new ExploreReport({ ...parts, findings });

function messageOf(assertion: () => void): string {
  try {
    assertion();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("the assertion holds");
}

describe("toBeExactlyOnce", () => {
  it("passes if nothing was found", () => {
    expect(reportOf([])).toBeExactlyOnce();
    expect(messageOf(() => expect(reportOf([])).not.toBeExactlyOnce())).toBe(
      "expected findings, but create-order: 1 I/O point, 97 runs, exactly once",
    );
  });

  it("fails with the whole first defect, the other places that show it, and the number of others", () => {
    const elsewhere = { ...finding, id: "8 timeout", what: "3 items in orders instead of 1" };
    const other = { ...finding, id: "9 timeout", what: "an answer is missing" };

    expect(messageOf(() => expect(reportOf([finding, elsewhere, other])).toBeExactlyOnce())).toBe(
      `create-order: 1 I/O point, 97 runs, 3 findings
undisturbed: answer 201; 1 item in orders

1. a crash after point 7 (dynamodb PutItem orders) makes it happen twice: 2 items in orders instead of 1
     first line
     second line
   what to do: move the write into commit
   reproduce: only: "7 crash-after", seed: 3
   the same after 1 more: 8 timeout

and 1 more defect: String(report) lists them all`,
    );
  });

  it("explains what it accepts when it gets a promise", () => {
    expect(messageOf(() => expect(Promise.resolve()).toBeExactlyOnce())).toBe(
      "toBeExactlyOnce needs the report of explore() (got object): is an await missing?",
    );
  });
});

describe("String(report)", () => {
  it("reports one defect once, whatever numbers are in it, and its other places", () => {
    const elsewhere = { ...finding, id: "8 timeout", what: "3 items in orders instead of 1" };
    const other = { ...finding, kind: "stuck", advice: "a lock needs a lease", what: "no answer" } as const;

    const text = String(reportOf([finding, elsewhere, other]));

    expect(text.match(/^\d\. /gm)).toEqual(["1. ", "2. "]);
    expect(text).toContain("   the same after 1 more: 8 timeout\n");
  });

  it("lists openly what was accepted, left out, not compared and not explored", () => {
    const call = "POST https://mail.example.com/send";
    const accepted = [{ call, most: 2, disturbance: "a crash after point 1 (http)" }];
    const masked = ["id of item orders"];
    const firstOnly = ["dynamodb GetItem settings"];
    const report = new ExploreReport({ ...parts, findings: [], accepted, leftOut: 5, masked, firstOnly });

    expect(report.ok).toBe(true);
    expect(String(report)).toBe(
      `create-order: 1 I/O point, 97 runs (5 more left out by maxRuns), exactly once, except for what was accepted
undisturbed: answer 201; 1 item in orders
accepted as at least once: ${call}, up to 2 times (a crash after point 1 (http))
not compared, because undisturbed runs differ there: id of item orders
not explored, because only the first run does it (the module caches it; see perEnvironment): dynamodb GetItem settings`,
    );
  });
});
