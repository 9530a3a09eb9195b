import { describe, expect, it } from "vitest";
import type { RunOnceOptions } from "../../lib/core/run-once.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { fakeClock, MemoryStore, type MemoryWrite } from "../../lib/testing/index.ts";

const optionsOf = (change: Partial<RunOnceOptions<MemoryWrite>> = {}): RunOnceOptions<MemoryWrite> => ({
  operation: "charge",
  store: new MemoryStore(),
  leaseSeconds: 30,
  clock: fakeClock(),
  ...change,
});

describe("runOnce", () => {
  it("runs once per operation, scope and key, and answers every call with the same result", async () => {
    const options = optionsOf();
    let runs = 0;

    const first: { run: number } = await runOnce(options, "key", { total: 7 }, () => ({ run: ++runs }));
    const second = await runOnce(options, "key", { total: 7 }, async () => ({ run: ++runs }));
    const third = await runOnce({ ...options, scope: "tenant" }, "key", { total: 7 }, () => ({
      run: ++runs,
    }));

    expect([first, second, third]).toEqual([{ run: 1 }, { run: 1 }, { run: 2 }]);
  });

  it("without a scope the operation has the empty one, which no caller can have", async () => {
    expect(await runOnce(optionsOf(), "key", 1, ({ scope }) => scope)).toBe("");
  });

  it("refuses another input under the same key", async () => {
    const options = optionsOf();
    await runOnce(options, "key", { total: 7 }, () => 1);

    await expect(runOnce(options, "key", { total: 8 }, () => 2)).rejects.toMatchObject({
      code: "FINGERPRINT_MISMATCH",
    });
  });

  it("fingerprints the input before the work can change it", async () => {
    const options = optionsOf();
    const input = { total: 7 };
    await runOnce(options, "key", input, () => {
      input.total = 8;
      return "done";
    });

    expect(await runOnce(options, "key", { total: 7 }, () => "never")).toBe("done");
  });

  it("fingerprints only what the options say", async () => {
    const options = optionsOf({ fingerprint: ({ total }: { total: number }) => total });
    await runOnce(options, "key", { total: 7, sentAt: 1 }, () => "done");

    expect(await runOnce(options, "key", { total: 7, sentAt: 2 }, () => "never")).toBe("done");
  });

  it("checks the options once per object", async () => {
    let checks = 0;
    const options = Object.defineProperty(optionsOf(), "retentionSeconds", {
      enumerable: true,
      get: () => {
        checks++;
        return 60;
      },
    });
    await runOnce(options, "key", 1, () => "done");
    const once = checks;

    await runOnce(options, "key", 1, () => "never");

    expect(once).toBeGreaterThan(0);
    expect(checks).toBe(once);
  });

  it.each([
    [{ scope: "" }, "the scope is given but empty"],
    [{ scope: undefined }, "the scope is given but empty"],
    [{ scope: 7 as unknown as string }, "the scope must be well-formed text"],
    [{ mode: "fast" as "claimed" }, "option `mode`"],
    [{ leaseSeconds: undefined }, "option `leaseSeconds`"],
  ])("refuses options before any I/O: %j", async (change, message) => {
    const store = new MemoryStore();

    await expect(runOnce(optionsOf({ store, ...change }), "key", 1, () => 1)).rejects.toThrow(message);
    expect(store.records.size).toBe(0);
  });

  it.each([
    ["a key", "", { total: 7 }, "IDEMPOTENCY_KEY_INVALID"],
    ["a payload", "key", { total: 7n }, "PAYLOAD_INVALID"],
  ])("refuses %s that it cannot use, before any I/O", async (_, key, input, code) => {
    const store = new MemoryStore();

    await expect(runOnce(optionsOf({ store }), key, input, () => 1)).rejects.toMatchObject({ code });
    expect(store.records.size).toBe(0);
  });
});
