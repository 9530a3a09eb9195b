import { describe, expect, it } from "vitest";
import { eventFilter } from "../../../lib/aws/event-sources/event-filter.ts";
import { sqsFilter } from "../../../lib/aws/event-sources/sqs-filter.ts";

const criteria = (...patterns: object[]) => ({
  Filters: patterns.map((pattern) => ({ Pattern: JSON.stringify(pattern) })),
});

describe("eventFilter", () => {
  it.each([
    ["equality", { a: ["x", null] }, [{ a: "x" }, { a: null }], [{ a: "y" }, {}]],
    [
      "all keys",
      { a: ["x"], b: { c: [1] } },
      [{ a: "x", b: { c: 1 } }],
      [{ a: "x" }, { a: "x", b: { c: "1" } }],
    ],
    ["lists", { a: ["x"] }, [{ a: ["w", "x"] }], [{ a: ["w"] }, { a: [] }]],
    ["exists", { a: [{ exists: true }] }, [{ a: 0 }, { a: null }], [{}, { a: { b: 1 } }]],
    ["absence", { a: { S: [{ exists: false }] } }, [{}, { a: { N: "1" } }], [{ a: { S: "x" } }]],
    ["prefix", { a: [{ prefix: "ab" }] }, [{ a: "abc" }], [{ a: "xab" }, { a: 1 }, {}]],
    ["suffix", { a: [{ suffix: "bc" }] }, [{ a: "abc" }], [{ a: "bcd" }]],
    ["any case", { a: [{ "equals-ignore-case": "ABC" }] }, [{ a: "abc" }], [{ a: "abcd" }]],
    ["anything but", { a: [{ "anything-but": ["x", "y"] }] }, [{ a: "z" }], [{ a: "x" }, {}]],
    ["no such prefix", { a: [{ "anything-but": { prefix: "x" } }] }, [{ a: "z" }], [{ a: "xy" }]],
    ["numbers", { a: [{ numeric: [">", 0, "<=", 5] }] }, [{ a: 5 }], [{ a: 0 }, { a: 6 }, { a: "5" }]],
    ["either", { $or: [{ a: [1] }, { b: [2] }] }, [{ a: 1 }, { b: 2 }], [{ a: 2 }]],
  ] as [string, object, object[], object[]][])("knows %s", (_, pattern, passing, dropped) => {
    const passes = eventFilter(criteria(pattern));

    expect(passing.map(passes)).toEqual(passing.map(() => true));
    expect(dropped.map(passes)).toEqual(dropped.map(() => false));
  });

  it("passes what one of several filters passes, and everything without filters", () => {
    expect([{ a: 1 }, { b: 1 }, { c: 1 }].map(eventFilter(criteria({ a: [1] }, { b: [1] })))).toEqual([
      true,
      true,
      false,
    ]);
    expect(eventFilter(undefined)({})).toBe(true);
  });

  it("refuses a rule it does not know, rather than guess", () => {
    expect(() => eventFilter(criteria({ a: [{ cidr: "10.0.0.0/8" }] }))).toThrow(
      /unknown filter rule .*cidr/,
    );
    expect(() => eventFilter(criteria({ a: "x" }))).toThrow(
      'a filter pattern consists of objects and arrays of rules (got "x"',
    );
  });
});

describe("sqsFilter", () => {
  it("reads a JSON body as JSON and any other as text", () => {
    const json = sqsFilter(criteria({ body: { kind: ["paid"] } }));
    const text = sqsFilter(criteria({ body: [{ prefix: "pay" }] }));
    const bodies = ['{"kind":"paid"}', "payment", '{"kind":"open"}'].map((body) => ({ body }));

    expect(bodies.map(json)).toEqual([true, false, false]);
    expect(bodies.map(text)).toEqual([false, true, false]);
  });
});
