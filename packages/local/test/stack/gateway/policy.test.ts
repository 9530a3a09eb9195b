import { describe, expect, it, test } from "vitest";
import { policyAllows } from "../../../lib/stack/gateway/policy.ts";

const ARN = "arn:aws:execute-api:us-east-1:123456789012:abcdef123/test/GET/request";

const allow = (Resource: unknown, more: object = {}) => ({
  Effect: "Allow",
  Action: "execute-api:Invoke",
  Resource,
  ...more,
});
const deny = (Resource: unknown, more: object = {}) => ({ ...allow(Resource, more), Effect: "Deny" });
const policyOf = (...Statement: object[]) => ({ Version: "2012-10-17", Statement });

describe("policyAllows", () => {
  test.each([
    ["the exact resource", policyOf(allow(ARN)), true],
    ["a list of resources", policyOf(allow(["arn:other", ARN])), true],
    ["a single statement outside of a list", { Statement: allow(ARN) }, true],
    ["* for everything", policyOf(allow("*")), true],
    ["* within the resource", policyOf(allow(ARN.replace("GET", "*"))), true],
    ["? for one character", policyOf(allow(ARN.replace("GET", "G?T"))), true],
    ["an action in another case", policyOf(allow(ARN, { Action: "EXECUTE-API:*" })), true],
    ["another resource", policyOf(allow(ARN.replace("GET", "PUT"))), false],
    ["the beginning of the resource only", policyOf(allow(ARN.slice(0, -1))), false],
    ["another action", policyOf(allow(ARN, { Action: "execute-api:ManageConnections" })), false],
    ["an explicit deny beside an allow", policyOf(allow("*"), deny(ARN)), false],
    ["a deny of something else", policyOf(allow("*"), deny(ARN.replace("GET", "PUT"))), true],
    ["no statements", policyOf(), false],
    ["no document", undefined, false],
  ])("answers for %s", (_, policy, allowed) => {
    expect(policyAllows(policy, ARN)).toBe(allowed);
  });

  it("treats a condition, which it can't evaluate, as unmet for an allow and as met for a deny", () => {
    const Condition = { IpAddress: { "aws:SourceIp": "192.0.2.0/24" } };

    expect(policyAllows(policyOf(allow("*", { Condition })), ARN)).toBe(false);
    expect(policyAllows(policyOf(allow("*"), deny("*", { Condition })), ARN)).toBe(false);
  });
});
