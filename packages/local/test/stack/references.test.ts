import { describe, expect, it, test } from "vitest";
import { deploymentOrder } from "../../lib/stack/references.ts";

const needing = (Properties: Record<string, unknown>) => ({ Type: "A", Properties });

describe("deploymentOrder", () => {
  test.each([
    ["Ref", needing({ x: { Ref: "Needed" } })],
    ["Fn::GetAtt as a list", needing({ x: [{ "Fn::GetAtt": ["Needed", "Arn"] }] })],
    ["Fn::GetAtt as text", needing({ x: { "Fn::GetAtt": "Needed.Arn" } })],
    ["Fn::Sub", needing({ x: { "Fn::Sub": `a \${Needed.Arn}` } })],
    ["Fn::Sub with variables", needing({ x: { "Fn::Sub": [`\${a}`, { a: { Ref: "Needed" } }] } })],
    ["a nested function", needing({ x: { "Fn::Join": ["", ["a", { Ref: "Needed" }]] } })],
    ["DependsOn", { Type: "A", DependsOn: "Needed" }],
    ["a list of DependsOn", { Type: "A", DependsOn: ["Needed"] }],
  ])("puts the dependencies of %s first", (_, resource) => {
    expect(deploymentOrder({ Needing: resource, Needed: { Type: "B" } })).toEqual(["Needed", "Needing"]);
  });

  it("ignores anything but a resource", () => {
    expect(deploymentOrder({ A: needing({ x: { Ref: "AWS::Region" } }) })).toEqual(["A"]);
  });

  it("refuses a circle and names it", () => {
    const resources = { A: needing({ x: { Ref: "B" } }), B: needing({ x: { Ref: "A" } }) };

    expect(() => deploymentOrder(resources)).toThrow("A → B → A");
  });
});
