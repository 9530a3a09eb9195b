import { describe, expect, it } from "vitest";
import { failedItems } from "../../../lib/aws/event-sources/partial-batch.ts";

const failures = (...ids: unknown[]) =>
  JSON.stringify({ batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) });

describe("failedItems", () => {
  it.each([
    ["nothing", "null", []],
    ["an empty object", "{}", []],
    ["no list", '{"batchItemFailures":null}', []],
    ["an empty list", '{"batchItemFailures":[]}', []],
    ["one item", failures("a"), ["a"]],
    ["one item twice", failures("a", "a"), ["a"]],
    ["an unknown item", failures("a", "x"), "all"],
    ["an empty id", failures(""), "all"],
    ["no id", failures(null), "all"],
    ["another key", '{"batchItemFailures":[{"id":"a"}]}', "all"],
    ["text", '"done"', "all"],
    ["no JSON", "oops", "all"],
  ])("reads %s", (_, payload, failed) => {
    const result = failedItems(payload, new Set(["a", "b"]));

    expect(typeof result === "string" ? result : [...result]).toEqual(failed);
  });
});
