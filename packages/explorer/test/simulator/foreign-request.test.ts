// Requests to a system outside of the simulation: they really are made, and are points like all others.
import { connect, createServer, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { foreignRequest, whenEnvironmentEnds } from "../../lib/simulator/foreign-request.ts";
import { Simulator } from "../../lib/simulator/simulator.ts";

const arrived: string[] = [];
const server = createServer((socket) =>
  socket.on("data", (data) => {
    arrived.push(`${data}`);
    setTimeout(() => socket.end("+OK"), 20);
  }),
);
let port = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as { port: number }).port;
});
afterAll(() => void server.close());

const ask = (what: string) =>
  foreignRequest({
    target: "counter",
    operation: "INCR",
    input: { what },
    broken: () => new Error("connection lost"),
    run: () =>
      new Promise<string>((resolve) => {
        const socket: Socket = connect(port, "127.0.0.1", () => socket.write(what));
        socket.on("data", (data) => resolve(`${data}`));
      }),
  });

describe("foreignRequest", () => {
  it("reaches a real server from a function, while virtual time stands still but for the way there and back", async () => {
    const aws = new Simulator();
    const fn = aws.lambda(async () => ask("from a function"));

    const invocation = await aws.run(() => fn.invoke({}));

    expect(invocation).toMatchObject({ outcome: "returned", value: "+OK" });
    expect(aws.clock.now() - 1_700_000_000_000).toBeLessThanOrEqual(10);
    expect(aws.traceText()).toContain("foreign INCR counter → ok");
  });

  it.each([
    ["crash", "before", [], "crashed"],
    ["crash", "after", ["x"], "crashed"],
    ["lost-answer", undefined, ["x"], "threw"],
    ["unsent", undefined, [], "threw"],
    ["throttle", undefined, [], "threw"],
  ] as const)("can have a fault: %s %s", async (kind, when, seen, outcome) => {
    const aws = new Simulator();
    aws.faults = () => ({ kind, ...(when && { when }) }) as never;
    arrived.length = 0;
    const ends: string[] = [];
    const fn = aws.lambda(async () => {
      const forget = whenEnvironmentEnds(() => ends.push("closed"));
      await ask("x").finally(forget);
    });

    const invocation = await aws.run(() => fn.invoke({}));

    expect(invocation.outcome).toBe(outcome);
    expect(arrived).toEqual(seen);
    expect(ends).toEqual(outcome === "crashed" ? ["closed"] : []);
  });

  it("is a request without a number in the test itself, and outside of a simulation", async () => {
    const aws = new Simulator();
    aws.faults = () => ({ kind: "unsent" });

    expect(await aws.run(() => ask("from the test"))).toBe("+OK");
    expect(await ask("from nowhere")).toBe("+OK");
    whenEnvironmentEnds(() => {})();
    expect(aws.trace).toEqual([]);
  });
});
