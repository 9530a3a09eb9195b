import { describe, expect, it } from "vitest";
import { decodeResult } from "../../lib/core/outcome.ts";
import { bucketOf, pointerText, readPointer } from "../../lib/core/result-pointer.ts";

const POINTER = { bucket: "results", key: "onceonly-results/a/b/c", sha256: "0a", bytes: 12 };

describe("a pointer to a result in a bucket", () => {
  it("reads what was written, and no other text", () => {
    const text = pointerText(POINTER);
    expect(readPointer(text)).toEqual(POINTER);
    for (const other of ["", '"text"', "not kept", "sealed.1.x", JSON.stringify(text)])
      expect(readPointer(other)).toBeUndefined();
  });

  it("is never a handler's result, even if it was changed", () => {
    expect(() => decodeResult(pointerText(POINTER))).toThrow(/in a bucket: use `offloaded`/);
    expect(readPointer("bucket.1.{")).toEqual({ bucket: "", key: "", sha256: "", bytes: 0 });
    expect(() => decodeResult("bucket.1.{")).toThrow(/in a bucket/);
    expect(() => decodeResult("bucket.2.[]")).toThrow("the stored result is not JSON");
  });

  it("shows its place and size wherever a store returns it", () => {
    const place = { bucket: "results", bytes: 12 };
    expect(bucketOf({ in: "record", text: pointerText(POINTER) })).toEqual(place);
    expect(bucketOf({ in: "item", address: "x", inBucket: place })).toEqual(place);
    for (const other of [
      undefined,
      { in: "item", address: "x" },
      { in: "record", text: "1" },
      { in: "nowhere", bytes: 1 },
    ] as const)
      expect(bucketOf(other)).toBeUndefined();
  });
});
