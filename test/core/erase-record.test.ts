// What erasing asks of a store, and when it refuses.
import { describe, expect, it } from "vitest";
import { type EraseRecordOptions, eraseIn, eraseRecord } from "../../lib/core/erase-record.ts";
import { PermanentError } from "../../lib/core/errors.ts";
import type { IdempotencyRecord } from "../../lib/core/record.ts";
import { pointerText } from "../../lib/core/result-pointer.ts";
import { decodeEvidence } from "../../lib/core/verify.ts";
import { fakeRandom, type MemoryWrite } from "../../lib/testing/index.ts";
import { watched } from "../kit/faults/faulty-store.ts";
import { newWorld } from "./world.ts";

const ERASURE = { by: "ana", why: "request 12" };

async function given(work: () => unknown = () => "canary-4711") {
  const world = newWorld();
  const { memory, clock } = world;
  await world.call(async () => work(), { isFinalError: () => true }).catch(() => {});
  const [recordKey = ""] = memory.records.keys();
  // As a single store, which has no way of its own.
  const { store, requests } = watched(Object.assign(memory, { erase: undefined }));
  const apart: unknown[][] = [];
  const options: EraseRecordOptions<MemoryWrite> = {
    store,
    clock,
    apart: async (...about) => void apart.push(about),
  };
  const erase = (change: object = {}, erasure: object = {}) =>
    eraseRecord({ ...options, ...change }, recordKey, { ...ERASURE, ...erasure });
  const alter = (change: Partial<IdempotencyRecord>) => memory.alter(recordKey, change);
  return { record: world.record, recordKey, requests, store, options, apart, erase, alter };
}

describe("eraseRecord", () => {
  it("H39: reads consistently, erases what is apart, and then inserts a record without the result", async () => {
    const { erase, store, recordKey, requests, apart, record } = await given();
    const before = record();

    expect(await erase()).toEqual({ erased: true });

    expect(requests.map(([name]) => name)).toEqual(["find", "insert"]);
    expect(requests[0]).toEqual(["find", recordKey, { consistent: true }]);
    expect(requests[1]).toEqual([
      "insert",
      expect.objectContaining({
        state: "completed",
        attempt: 2,
        keepsSteps: false,
        writes: [],
        messages: [],
      }),
      before,
    ]);
    expect(apart).toEqual([[store, recordKey, before]]);
  });

  it("H39: a second erasure erases again what is apart, and writes nothing", async () => {
    const { erase, requests, apart } = await given();
    await erase();
    requests.length = 0;

    expect(await erase()).toEqual({ erased: true });

    expect(requests.map(([name]) => name)).toEqual(["find"]);
    expect(apart).toHaveLength(2);
  });

  it.each([
    ["completed", () => "canary-4711", "happened"],
    [
      "failed",
      () => {
        throw new PermanentError("canary-4711");
      },
      "unknown",
    ],
  ])(
    "H39: a %s key stays what it is, with the verdict that follows from it",
    async (state, work, verdict) => {
      const { erase, record } = await given(work);

      expect(await erase()).toEqual({ erased: true });

      expect(record()).toMatchObject({ state, attempt: 2 });
      expect(decodeEvidence(record().evidence)).toMatchObject({
        ...{ verdict, by: "ana", answered: "request 12", asked: "to erase the result" },
      });
      expect(JSON.stringify(record())).not.toContain("canary");
    },
  );

  it("H39: while messages wait, nothing is erased", async () => {
    const { erase, alter, requests, apart } = await given();
    alter({ expiresAt: undefined });

    expect(await erase()).toEqual({ erased: false, state: "waiting" });

    expect([requests.map(([name]) => name), apart]).toEqual([["find"], []]);
  });

  describe("of a result in a bucket", () => {
    const text = pointerText({ bucket: "results", key: "k", sha256: "0", bytes: 9 });

    it.each([
      ["this result is in the bucket results", { result: { in: "record", text } }],
      ["the handler's bucket may have results of this key", { token: "b.token-1" }],
      ["this result is in the bucket results", { token: "b.token-1", result: { in: "record", text } }],
    ] as const)("H39: is refused without the bucket: %s", async (why, change) => {
      const { erase, alter, requests, apart } = await given();
      alter(change);

      await expect(erase()).rejects.toThrow(
        `\`store\` must be the handler's \`offloaded\` store: ${why}, and has to be deleted there too`,
      );

      expect([requests.map(([name]) => name), apart]).toEqual([["find"], []]);
    });

    it("H39: goes on with the bucket", async () => {
      const { store, options, recordKey, alter } = await given();
      alter({ token: "b.token-1", result: { in: "record", text } });
      const { apart, clock, random } = { random: fakeRandom("erase"), ...options } as Required<
        typeof options
      >;
      const erasing = { recordKey, erasure: ERASURE, apart, clock, random, reachesBucket: true };

      expect(await eraseIn(store, erasing as never)).toEqual({ erased: true });
    });
  });

  it.each([
    [{}, { by: undefined }, "`by` must be"],
    [{}, { why: undefined }, "`why` must be"],
    [{ store: undefined }, {}, "`store` must be"],
    [{ clock: 7 }, {}, "`clock` must be"],
  ])("refuses %j %j before any request", async (change, erasure, message) => {
    const { erase, requests } = await given();

    await expect(erase(change, erasure)).rejects.toThrow(message);

    expect(requests).toEqual([]);
  });
});
