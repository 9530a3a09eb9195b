import { describe, expect, it } from "vitest";
import { runnerOf } from "../../bench/timing/runner.ts";
import { CALLERS, compareSpeed, type Runner, SPEED_ROUNDS, type Speed } from "../../bench/timing/speed.ts";

const speed = (latency: number, throughput: number): Speed => {
  const pace = { latency, throughput };
  return { firstRun: { 1: pace, 16: pace, 64: pace }, replay: { 1: pace, 16: pace, 64: pace } };
};

describe("compareSpeed", () => {
  it("gives the median of the ratios to the bare handler of the same round, in turns", async () => {
    const order: string[] = [];
    const contestant = (name: string, latencyOf: (round: number) => number): Runner => {
      let rounds = 0;
      return {
        warmUp: async () => void order.push(`${name} warms up`),
        round: async () => {
          order.push(name);
          return speed(latencyOf(rounds++), 1);
        },
      };
    };

    const speeds = await compareSpeed(
      {
        bare: contestant("bare", (round) => 1 + round),
        other: contestant("other", (round) => 3 * (1 + round)),
      },
      () => order.push("|"),
    );

    expect(order.join(" ")).toMatch(
      /^bare warms up other warms up bare other \| other bare \| bare other \|/,
    );
    expect(order.filter((step) => step === "|")).toHaveLength(SPEED_ROUNDS);
    expect(speeds).toEqual({ bare: speed(1, 1), other: speed(3, 1) });
  });
});

describe("runnerOf", () => {
  it("calls each key twice, with as many callers at once as it says", async () => {
    const keys = new Map<string, number>();
    let [running, most] = [0, 0];
    const runner = runnerOf(async (event) => {
      const key = (event as { headers: Record<string, string> }).headers["idempotency-key"] as string;
      keys.set(key, (keys.get(key) ?? 0) + 1);
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
    });

    const { firstRun, replay } = await runner.round();

    expect(new Set(keys.values())).toEqual(new Set([2]));
    expect(most).toBe(Math.max(...CALLERS));
    for (const callers of CALLERS) {
      expect(firstRun[callers].latency).toBeGreaterThan(0);
      expect(replay[callers].throughput).toBeGreaterThan(0);
    }
  });
});
