import { describe, expect, it } from "vitest";
import { RecordMemory } from "../../lib/core/record-memory.ts";
import { fakeClock } from "../../lib/testing/index.ts";

/** What a value with a text of that many characters counts. */
const bytesOf = (characters: number) => 1000 + 2 * characters;

function memoryOf(maxBytes: number, maxRecords = 10) {
  const memory = new RecordMemory({ rememberSeconds: 60, maxRecords, maxBytes, clock: fakeClock() });
  const keep = (name: string, characters: number) =>
    memory.keep(name, name, "x".repeat(characters), fakeClock().now());
  const kept = (...names: string[]) => names.filter((name) => memory.get(name) === name);
  return { memory, keep, kept };
}

describe("RecordMemory", () => {
  it("keeps values that just fill it", () => {
    const { keep, kept } = memoryOf(bytesOf(10) + bytesOf(20));
    keep("first", 10);
    keep("second", 20);

    expect(kept("first", "second")).toEqual(["first", "second"]);
  });

  it("keeps one value that just fills it, and forgets the oldest for it", () => {
    const { keep, kept } = memoryOf(bytesOf(100));
    keep("first", 10);
    keep("second", 100);

    expect(kept("first", "second")).toEqual(["second"]);
  });

  it("leaves the others as they are for a value that is too large", () => {
    const { keep, kept } = memoryOf(bytesOf(100));
    keep("first", 10);
    keep("second", 101);

    expect(kept("first", "second")).toEqual(["first"]);
  });

  it("counts again what it has forgotten and cleared", () => {
    const { memory, keep, kept } = memoryOf(bytesOf(10));
    keep("first", 10);
    memory.forget("first");
    keep("second", 10);
    expect(kept("first", "second")).toEqual(["second"]);

    memory.clear();
    keep("third", 10);
    expect(kept("second", "third")).toEqual(["third"]);
  });
});
