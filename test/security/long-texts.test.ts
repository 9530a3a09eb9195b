// Texts from outside cost time in proportion to their length. A pattern that begins again at each character would not end here.
import { describe, expect, it } from "vitest";
import { serviceText } from "../../lib/dynamodb/service-text.ts";
import { httpFingerprint } from "../../lib/lambda/http/fingerprint.ts";
import { parseDecimal } from "../../packages/explorer/lib/aws/dynamodb/values/decimal.ts";

const MEGABYTE = 1_000_000;
const long = (part: string, end = "") => part.repeat(MEGABYTE / part.length) + end;

describe("R6: a string of a megabyte", () => {
  it.each(["{", "{a", "{a+", "{}", "}{"])("as the template of a route: %j again and again", (part) => {
    const event = {
      resource: `/${long(part)}`,
      path: "/orders",
      httpMethod: "POST",
      headers: { host: "api.example.com" },
      requestContext: { stage: "prod" },
      body: "{}",
    };

    expect(() => httpFingerprint(event)).not.toThrow();
  });

  it.each(["[", "{", "{a", "{:", "}{", "][", '"', "'", " "])(
    "as the message of a service's error: %j again and again",
    (part) => {
      expect(serviceText("Error", long(part, "!"), []).length).toBeLessThan(500);
    },
  );

  it("as a number of DynamoDB", () => {
    expect(() => parseDecimal(long("0", "!"))).toThrow();
    expect(() => parseDecimal(long("1", "!"))).toThrow();
  });
});

describe("the message of a service's error", () => {
  it.each([
    ["a [secret] b", "Error: a […] b"],
    ["a [x] b [y] c", "Error: a […] c"],
    ["a {secret} b", "Error: a {…} b"],
    ["a {:value} b {secret} c", "Error: a {:value} b {…} c"],
    ["a {:value} b", "Error: a {:value} b"],
    ["a ] b [ c", "Error: a ] b [ c"],
  ])("of %j is %j", (message, shown) => {
    expect(serviceText("Error", message, [])).toBe(shown);
  });
});
