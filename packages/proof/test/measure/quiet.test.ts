import { describe, expect, it } from "vitest";
import { refuseBusy, shareBetween } from "../../measure/quiet.ts";

const processor = (user: number, idle: number) => ({ times: { user, idle, nice: 0, sys: 0, irq: 0 } });

describe("a busy machine", () => {
  it("39.2: is one whose processors other work uses", () => {
    const share = shareBetween([processor(0, 0), processor(5, 5)], [processor(100, 300), processor(5, 405)]);

    expect(share).toBe(0.125);
    expect(shareBetween([processor(1, 1)], [processor(1, 1)])).toBe(0);
  });

  it("39.2: isn't timed", () => {
    expect(() => refuseBusy("client", 0.15)).not.toThrow();
    expect(() => refuseBusy("client", 0.63)).toThrow(
      'other processes use 63 % of its processors, and at most 15 % are allowed while "client" is timed',
    );
  });
});
