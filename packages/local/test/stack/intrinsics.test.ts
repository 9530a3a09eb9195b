import { describe, expect, it, test } from "vitest";
import { type IntrinsicScope, NO_VALUE, resolveIntrinsics } from "../../lib/stack/intrinsics.ts";

const REFS: Record<string, unknown> = {
  Table: "orders-1",
  "AWS::Region": "us-east-1",
  "AWS::NoValue": NO_VALUE,
  Zones: ["a", "b"],
};

const scope: IntrinsicScope = {
  ref: (name) => {
    if (!(name in REFS)) throw new Error(`no ${name}`);
    return REFS[name];
  },
  attribute: (logicalId, attribute) => `${logicalId}/${attribute}`,
  condition: (name) => name === "IsProd",
  mapping: (...keys) => keys.join("."),
  importValue: (name) => `imported ${name}`,
  stackOutput: (...names) => names.join(" "),
};

describe("resolveIntrinsics", () => {
  test.each([
    ["plain values", { a: [1, "x", null, true] }, { a: [1, "x", null, true] }],
    ["Ref", { Ref: "Table" }, "orders-1"],
    ["Fn::GetAtt as a list", { "Fn::GetAtt": ["Table", "Arn"] }, "Table/Arn"],
    ["Fn::GetAtt as text", { "Fn::GetAtt": "Table.Nested.Arn" }, "Table/Nested.Arn"],
    ["Fn::Join", { "Fn::Join": ["-", ["a", { Ref: "Table" }, 3]] }, "a-orders-1-3"],
    ["Fn::Join of a list parameter", { "Fn::Join": [",", { Ref: "Zones" }] }, "a,b"],
    [
      "Fn::Sub of references",
      { "Fn::Sub": `\${Table} \${Table.Arn} \${AWS::Region}` },
      "orders-1 Table/Arn us-east-1",
    ],
    [
      "Fn::Sub with variables of its own",
      { "Fn::Sub": [`\${A}:\${Table}`, { A: { Ref: "Table" } }] },
      "orders-1:orders-1",
    ],
    ["Fn::Sub with a literal", { "Fn::Sub": `\${!Table} \${Table}` }, `\${Table} orders-1`],
    ["Fn::Select", { "Fn::Select": ["1", ["a", { Ref: "Table" }]] }, "orders-1"],
    ["Fn::Split", { "Fn::Split": [":", "a:b:c"] }, ["a", "b", "c"]],
    [
      "Fn::Select of Fn::Split of Fn::GetAtt",
      { "Fn::Select": [1, { "Fn::Split": ["/", { "Fn::GetAtt": ["Table", "Arn"] }] }] },
      "Arn",
    ],
    ["Fn::If that holds", { "Fn::If": ["IsProd", "big", "small"] }, "big"],
    ["Fn::If that does not hold", { "Fn::If": ["IsTest", "big", { Ref: "Table" }] }, "orders-1"],
    ["Fn::Equals", { "Fn::Equals": [{ Ref: "Table" }, "orders-1"] }, true],
    ["Fn::And", { "Fn::And": [{ Condition: "IsProd" }, { "Fn::Equals": ["a", "b"] }] }, false],
    ["Fn::Or", { "Fn::Or": [{ Condition: "IsTest" }, { "Fn::Equals": ["a", "a"] }] }, true],
    ["Fn::Not", { "Fn::Not": [{ Condition: "IsTest" }] }, true],
    ["Fn::FindInMap", { "Fn::FindInMap": ["Map", { Ref: "AWS::Region" }, "size"] }, "Map.us-east-1.size"],
    ["Fn::Base64", { "Fn::Base64": "hello" }, "aGVsbG8="],
    ["Fn::ImportValue", { "Fn::ImportValue": { "Fn::Sub": `\${Table}-arn` } }, "imported orders-1-arn"],
    [
      "Fn::GetStackOutput",
      { "Fn::GetStackOutput": { StackName: "data", Region: { Ref: "AWS::Region" }, OutputName: "Out" } },
      "data us-east-1 Out",
    ],
    [
      "Fn::GetStackOutput of the same Region",
      { "Fn::GetStackOutput": { StackName: "data", OutputName: "Out" } },
      "data us-east-1 Out",
    ],
    ["Fn::GetAZs", { "Fn::GetAZs": "" }, ["us-east-1a", "us-east-1b", "us-east-1c"]],
    ["AWS::NoValue in an object", { a: 1, b: { Ref: "AWS::NoValue" } }, { a: 1 }],
    ["AWS::NoValue in a list", [1, { "Fn::If": ["IsTest", 2, { Ref: "AWS::NoValue" }] }], [1]],
    [
      "the Condition of a policy statement",
      { Condition: { StringEquals: { a: { Ref: "Table" } } } },
      { Condition: { StringEquals: { a: "orders-1" } } },
    ],
  ])("resolves %s", (_, value, expected) => {
    expect(resolveIntrinsics(value, scope)).toEqual(expected);
  });

  it("does not evaluate the branch that was not taken", () => {
    expect(resolveIntrinsics({ "Fn::If": ["IsProd", "x", { Ref: "Missing" }] }, scope)).toBe("x");
  });

  test.each([
    ["a function it does not know", { "Fn::Transform": {} }, "the template uses Fn::Transform"],
    ["a selection beyond the list", { "Fn::Select": [3, ["a"]] }, "Fn::Select index 3 is out of range"],
    ["something that isn't a list", { "Fn::Join": [",", "abc"] }, 'Fn::Join requires a list (got "abc")'],
    ["a Ref without a name", { Ref: ["Table"] }, 'Ref requires a name (got ["Table"])'],
  ])("refuses %s", (_, value, message) => {
    expect(() => resolveIntrinsics(value, scope)).toThrow(message);
  });
});
