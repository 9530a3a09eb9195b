import { expect, it } from "vitest";
import { readResultAddress, resultAddressOf } from "../../lib/core/result-address.ts";

it("reads the parts of an address, also of parts that have its signs", () => {
  const parts = ["pay#acme#hash", '"],["', ""];

  expect(readResultAddress(resultAddressOf(...parts))).toEqual(parts);
});

it.each(["", "pay#acme#hash", "{}", "null"])("reads nothing from %j, which isn't an address", (text) => {
  expect(readResultAddress(text)).toEqual([]);
});
