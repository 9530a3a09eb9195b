import "../../../../test/kit/shop/environment.ts";
import { explore, reportPage } from "onceonly-explorer";
import { beforeAll, describe, expect, it } from "vitest";
import { postOrder } from "../../../../test/kit/shop/events.ts";
import type { ExploreReport } from "../../lib/explorer/report.ts";
import { sequenceDiagram } from "../../lib/explorer/sequence-diagram.ts";
import { shop } from "./seeded-bugs/control.ts";
import { mended as careful, handler as careless } from "./seeded-bugs/write-outside-commit.ts";

const elementsOf = (page: string) => [...page.matchAll(/<([a-z0-9]+)/g)].map(([, name]) => name);

describe("reportPage", () => {
  let [wrong, right]: ExploreReport[] = [];
  let page = "";
  beforeAll(async () => {
    wrong = await explore(careless, postOrder(), { ...shop, name: "careless", only: "2 crash-after" });
    right = await explore(careful, postOrder(), { ...shop, name: "careful", only: "2 crash-after" });
    page = reportPage([wrong, right]);
  });

  it("has each report, and a diagram for each defect with its disturbance marked once", () => {
    const diagrams = page.match(/<svg .*?<\/svg>/gs) ?? [];

    expect(page).toContain(`<h2 class="bad">${String(wrong).split("\n")[0]}</h2>`);
    expect(page).toContain('<h2 class="good">careful: 2 I/O points, 3 runs, exactly once</h2>');
    expect(diagrams).toHaveLength(wrong!.findings.length);
    expect(diagrams[0]?.match(/class="step disturbed"/g)).toHaveLength(1);
    expect(diagrams[0]?.match(/class="cross"/g)).toHaveLength(1);
    const heads = [...(diagrams[0] ?? "").matchAll(/<text class="head"[^>]*>([^<]*)/g)].map(
      ([, head]) => head,
    );
    expect(heads).toEqual(["the client", "careless", "dynamodb idempotency", "dynamodb orders"]);
  });

  it("has an arrow for each line of the trace, so the diagram matches the text", () => {
    const [finding] = wrong!.findings;

    const arrows = page.match(/<svg .*?<\/svg>/s)?.[0].match(/<g class="step|class="time folded"/g) ?? [];
    expect(arrows).toHaveLength(finding!.trace.split("\n").length);
  });

  it("asks for nothing from a network, runs no script, and is the same for the same reports", () => {
    expect(elementsOf(page)).not.toContain("script");
    expect(page).not.toMatch(/\b(src|href|url)\b\s*[=(]/);
    expect(page).toContain("default-src 'none'");
    expect(reportPage([wrong!, right!])).toBe(page);
  });

  it("shows names that others chose as text, and never as HTML", () => {
    const evil = '<img src=x onerror="alert(1)">';
    const [finding] = wrong!.findings;
    const named = {
      ...wrong!,
      name: evil,
      findings: [{ ...finding!, what: evil, advice: evil, trace: evil }],
    };

    const made = reportPage([named as unknown as ExploreReport]);

    expect(elementsOf(made)).not.toContain("img");
    expect(made).toContain("&#60;img");
  });
});

describe("sequenceDiagram", () => {
  const step = { at: 1500, text: "", from: "pay", to: "pay", label: "is killed" };

  it("shows how many equal steps were left out, and shortens a label that would cover another one", () => {
    const label = "x".repeat(60);

    const svg = sequenceDiagram("a run", [step, { more: 7 }, { ...step, to: "sqs orders", label }]);

    expect(svg).toContain("… 7 more");
    expect(svg).toContain(`${"x".repeat(33)}…<title>${label}</title>`);
    expect(svg).toContain("1.500 s");
  });
});
