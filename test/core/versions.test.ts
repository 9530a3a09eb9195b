// Deployments that overlap: records, fingerprints and keys of another version of the code.
import { describe, expect, it } from "vitest";
import {
  RECORD_FEATURES,
  RECORD_VERSION,
  RECORD_VERSIONS,
  STEP_ROWS_VERSION,
  STEPS_VERSION,
} from "../../lib/contract.ts";
import { FingerprintMismatchError, RecordCorruptError } from "../../lib/core/errors.ts";
import { releaseRecord } from "../../lib/core/release-record.ts";
import { resolveRecord } from "../../lib/core/resolve-outcome.ts";
import { runOnce } from "../../lib/core/run-once.ts";
import { gate } from "../kit/time/gate.ts";
import { newWorld } from "./world.ts";

/** The bit of the feature that comes next, and with steps. */
const NEXT = RECORD_VERSION | 8;
const NEXT_WITH_STEPS = STEP_ROWS_VERSION | 8;
const OTHER_VERSIONS = [RECORD_VERSION - 1, RECORD_VERSION + 1, NEXT, NEXT_WITH_STEPS];
const STATES = ["in-progress", "completed", "failed", "released", "held"] as const;

describe("record versions", () => {
  it.each(OTHER_VERSIONS.flatMap((version) => STATES.map((state) => [version, state] as const)))(
    "H46: a record of version %i that is %s is never run over and never replayed, in either mode",
    async (version, state) => {
      const world = newWorld({ whenStoreFails: "run" });
      await world.call(async () => "written by another version");
      world.memory.alter([...world.memory.records.keys()][0]!, { version, state });
      const before = world.record();
      // Leases are over; only the version is in the way.
      await world.clock.advance(60_000);
      let runs = 0;

      for (const options of [{ mode: "claimed" }, { mode: "optimistic" }] as const) {
        await expect(world.call(async () => ++runs, options)).rejects.toThrow(RecordCorruptError);
      }
      // Without the look the work runs, but nothing of it is written.
      const blind = world.call(({ commit }) => commit("blind", { writes: [world.orderWrite()] }), {
        mode: "optimistic",
        lookFirst: false,
      });
      await expect(blind).rejects.toThrow("finish the deployment");

      expect(runs).toBe(0);
      expect(world.orders()).toBe(0);
      expect(world.record()).toEqual(before);
    },
  );

  it.each(OTHER_VERSIONS)(
    "H46: a worker whose record was replaced by one of version %i does not answer with its own result",
    async (version) => {
      const world = newWorld();
      const { opened, open } = gate<string>();
      const worker = world.start(() => opened);
      await world.clock.advance(0);
      world.memory.alter([...world.memory.records.keys()][0]!, { version, token: "other code" });

      open("mine");

      await expect(worker).rejects.toThrow(RecordCorruptError);
    },
  );

  it("H46: a record of this version is read and written by this version", async () => {
    const world = newWorld();

    await world.call(async () => "done");

    expect(world.record().version).toBe(RECORD_VERSION);
    expect(await world.call(async () => "never")).toBe("done");
  });
});

describe("record versions of several releases", () => {
  /** Each release knows the features of those before it. A record has the bits of those that it uses. */
  const RELEASES = [
    { release: "before steps", reads: [1] },
    { release: "before rows of steps", reads: [1, 3] },
    { release: "this one", reads: RECORD_VERSIONS },
    { release: "the next one", reads: [1, 3, 7, 9, 11, 15] },
  ];
  const RECORDS = [
    { record: "without features", version: RECORD_VERSION, needs: 0 },
    { record: "with steps", version: STEPS_VERSION, needs: 1 },
    { record: "with rows of steps", version: STEP_ROWS_VERSION, needs: 2 },
    { record: "with the next feature", version: NEXT, needs: 3 },
    { record: "with rows of steps and the next feature", version: NEXT_WITH_STEPS, needs: 3 },
  ];

  it("H89: R5: each release reads the records whose features it knows, and refuses all others", () => {
    for (const [index, { release, reads }] of RELEASES.entries())
      for (const { record, version, needs } of RECORDS)
        expect([release, record, reads.includes(version)]).toEqual([release, record, needs <= index]);
  });

  it("has a bit for each feature, and no two have the same", () => {
    const bits = Object.values(RECORD_FEATURES);

    expect(new Set([RECORD_VERSION, ...bits]).size).toBe(bits.length + 1);
    for (const bit of bits) expect(Math.log2(bit) % 1).toBe(0);
    expect(RECORD_VERSIONS.at(-1)).toBe([RECORD_VERSION, ...bits].reduce((all, bit) => all | bit));
  });

  it("H89: R5: older code rejects a record as long as it has steps, and replays it once it's completed", async () => {
    const world = newWorld();
    const versions: number[] = [];

    await world.call(async ({ step, commit }) => {
      versions.push(world.record().version);
      await step("charge", () => versions.push(world.record().version), { atMostOnce: true });
      versions.push(world.record().version);
      return commit("done", {});
    });

    expect(versions).toEqual([RECORD_VERSION, STEPS_VERSION, STEPS_VERSION]);
    expect(world.record()).toMatchObject({ state: "completed", version: RECORD_VERSION });
  });

  it("H89: R5: a record with steps keeps its version under each claim, release and hold", async () => {
    const world = newWorld();
    const work = (error: Error) =>
      world
        .call(async ({ step }) => {
          await step("order", () => 1);
          await step("charge", () => Promise.reject(error), { atMostOnce: true });
        })
        .catch(() => {});
    await work(new Error("first"));
    const held = world.record();
    await world.clock.advance(61_000);
    await work(new Error("again"));

    expect([held, world.record()]).toMatchObject([
      { state: "held", version: STEPS_VERSION },
      { state: "held", version: STEPS_VERSION },
    ]);
  });

  it.each([NEXT, NEXT_WITH_STEPS])(
    "H89: R5: a record of version %i is not settled, released or listed as if its features were known",
    async (version) => {
      const world = newWorld();
      void world.start(({ step }) => step("charge", () => new Promise(() => {}), { atMostOnce: true }));
      await world.clock.advance(60_000);
      const [recordKey = ""] = world.memory.records.keys();
      world.memory.alter(recordKey, { version });
      const before = world.record();
      const options = { store: world.memory, clock: world.clock };
      const who = { by: "ana", why: "seen" };
      const verdict = { outcome: "happened", result: 1, step: "charge", ...who } as const;

      await expect(resolveRecord(options, recordKey, verdict)).rejects.toThrow(RecordCorruptError);
      await expect(releaseRecord(options, recordKey, who)).rejects.toThrow(RecordCorruptError);
      expect(world.record()).toEqual(before);
    },
  );
});

describe("fingerprint changes", () => {
  const former = (input: { total: number }) => ({ total: input.total });
  const current = (input: { total: number }) => ({ total: input.total, currency: "EUR" });
  const request = { input: { total: 7 } };

  it("H47: a list of fingerprints matches what either version stored", async () => {
    const world = newWorld();
    await world.call(async () => "former", { fingerprint: former }, request);

    const overlap = { fingerprint: [current, former] };

    expect(await world.call(async () => "never", overlap, request)).toBe("former");
    expect(await world.call(async () => "current", overlap, { ...request, key: "key-2" })).toBe("current");
    expect(
      await world.call(async () => "never", { fingerprint: current }, { ...request, key: "key-2" }),
    ).toBe("current");
    expect(world.decisions()).toEqual(["executed", "replayed", "executed", "replayed"]);
  });

  it("H47: without the list a changed fingerprint is a mismatch, not a second run", async () => {
    const world = newWorld();
    await world.call(async () => "former", { fingerprint: former }, request);

    await expect(world.call(async () => "never", { fingerprint: current }, request)).rejects.toThrow(
      FingerprintMismatchError,
    );
  });

  it("H47: a list still detects another payload", async () => {
    const world = newWorld();
    const fingerprint = [current, former];
    await world.call(async () => "done", { fingerprint }, request);

    await expect(world.call(async () => "never", { fingerprint }, { input: { total: 8 } })).rejects.toThrow(
      FingerprintMismatchError,
    );
  });
});

describe("key changes", () => {
  it("H47: with the previous key nested in the new one, a change in mid-window costs no second effect", async () => {
    const world = newWorld();
    let effects = 0;
    const options = {
      operation: "pay",
      store: world.memory,
      clock: world.clock,
      leaseSeconds: 30,
    };
    const formerCode = (order: string) => runOnce(options, `v1-${order}`, order, () => ++effects);
    const currentCode = (order: string) => runOnce(options, `v2-${order}`, order, () => formerCode(order));

    const answers = [
      await formerCode("a"),
      await currentCode("a"),
      await currentCode("a"),
      await formerCode("a"),
      await currentCode("b"),
      await formerCode("b"),
    ];

    expect(answers).toEqual([1, 1, 1, 1, 2, 2]);
    expect(effects).toBe(2);
  });
});
