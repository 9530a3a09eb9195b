import { describe, expect, it } from "vitest";
import { patternFilter } from "../../../lib/aws/event-sources/event-filter.ts";
import { BUS_RULES, SNS_RULES } from "../../../lib/aws/event-sources/pattern-rules.ts";

describe("patternFilter", () => {
  it.each([
    ["a wildcard", { a: [{ wildcard: "a*c" }] }, [{ a: "ac" }, { a: "abbc" }], [{ a: "acd" }, {}]],
    ["a star itself", { a: [{ wildcard: "a\\*c" }] }, [{ a: "a*c" }], [{ a: "abc" }]],
    [
      "letters that mean something in expressions",
      { a: [{ wildcard: "a.(*)" }] },
      [{ a: "a.(b)" }],
      [{ a: "ab(b)" }],
    ],
    ["addresses", { a: [{ cidr: "10.0.0.0/24" }] }, [{ a: "10.0.0.255" }], [{ a: "10.0.1.0" }, { a: "x" }]],
    ["IPv6", { a: [{ cidr: "2001:db8::/32" }] }, [{ a: "2001:db8::1" }], [{ a: "2001:db9::1" }]],
    ["any case", { a: [{ suffix: { "equals-ignore-case": ".PNG" } }] }, [{ a: "x.png" }], [{ a: "x.jpg" }]],
    ["none of several", { a: [{ "anything-but": { prefix: ["a", "b"] } }] }, [{ a: "c" }], [{ a: "bc" }]],
    [
      "no wildcard",
      { a: [{ "anything-but": { wildcard: "*/lib/*" } }] },
      [{ a: "/src/x" }],
      [{ a: "/lib/x" }],
    ],
    [
      "objects in a list",
      { a: { b: ["x"], c: ["y"] } },
      [{ a: [{ b: "x", c: "y" }] }],
      [
        {
          a: [
            { b: "x", c: "z" },
            { b: "z", c: "y" },
          ],
        },
      ],
    ],
  ] as [string, object, object[], object[]][])("knows %s", (_, pattern, passing, dropped) => {
    const passes = patternFilter(JSON.stringify(pattern), BUS_RULES);

    expect(passing.map(passes)).toEqual(passing.map(() => true));
    expect(dropped.map(passes)).toEqual(dropped.map(() => false));
  });

  it.each([
    ["a rule that is another service's", { a: [{ wildcard: "*" }] }, /unknown filter rule .*wildcard/],
    [
      "an unknown rule within a rule",
      { a: [{ "anything-but": { like: "x" } }] },
      /unknown filter rule .*like/,
    ],
    ["two rules in one", { a: [{ prefix: "x", suffix: "y" }] }, /unknown filter rule/],
    ["an operator", { a: [{ numeric: ["!=", 5] }] }, /unknown numeric rule !=/],
    ["half a range", { a: [{ cidr: "10.0.0.0" }] }, /a cidr must look like 10.0.0.0\/24 \(got 10.0.0.0/],
    ["text that is no pattern", "nothing", /JSON/],
  ])("refuses %s before any message comes", (_, pattern, reason) => {
    const text = typeof pattern === "string" ? pattern : JSON.stringify(pattern);

    expect(() => patternFilter(text, SNS_RULES)).toThrow(reason);
  });
});
