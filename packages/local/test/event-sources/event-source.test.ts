import { describe, expect, it } from "vitest";
import { switchable } from "../../lib/event-sources/event-source.ts";

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("switchable", () => {
  it("starts again only when the run before has ended", async () => {
    const runs: { signal: AbortSignal; end: () => void }[] = [];
    const source = switchable((signal) => new Promise((end) => runs.push({ signal, end })), true);
    await settled();

    source.disable();
    source.enable();
    await settled();
    const whileTheFirstRuns = runs.length;
    runs[0]?.end();
    await settled();

    expect(runs[0]?.signal.aborted).toBe(true);
    expect(whileTheFirstRuns).toBe(1);
    expect(runs).toHaveLength(2);
    expect(source.enabled).toBe(true);
  });

  it("runs nothing before it is enabled, and once however often it is enabled", async () => {
    let runs = 0;
    const source = switchable(async () => void runs++, false);
    await settled();
    const before = runs;

    source.enable();
    source.enable();
    await settled();

    expect([before, runs]).toEqual([0, 1]);
  });
});
