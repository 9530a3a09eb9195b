// A line for each decision: to the console, or to a logger such as that of Powertools.
import { type DecisionEvent, decisionLog } from "onceonly";
import { DECISIONS } from "onceonly/store-kit";
import { afterEach, describe, expect, it, vi } from "vitest";

const EVENT: DecisionEvent = {
  decision: "executed",
  operation: "pay",
  scope: "anna@example.org",
  keyHash: "hash",
  attempt: 2,
  durationMs: 12,
  error: undefined,
  traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
};

function logged(options: Parameters<typeof decisionLog>[0], event: DecisionEvent = EVENT) {
  const lines: (readonly [level: string, message: string, fields: Record<string, unknown>])[] = [];
  const to = (level: string) => (message: string, fields: Record<string, unknown>) =>
    lines.push([level, message, fields]);
  const logger = { info: to("info"), warn: to("warn"), error: to("error") };
  decisionLog({ logger, ...options })(event);
  return lines[0]!;
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe("decisionLog", () => {
  it("logs decision, operation, hash of the key, owner as a hash, attempt, duration and trace", () => {
    expect(logged({})).toEqual([
      "info",
      "onceonly: executed",
      {
        decision: "executed",
        operation: "pay",
        keyHash: "hash",
        scopeHash: expect.stringMatching(/^[\da-f]{16}$/),
        attempt: 2,
        durationMs: 12,
        traceId: "0af7651916cd43dd8448eb211c80319c",
      },
    ]);
  });

  it.each([
    ["clear", { scope: "anna@example.org" }],
    ["left-out", {}],
  ] as const)("shows the owner of a key %s if configured", (scope, shown) => {
    const [, , { scope: clear, scopeHash }] = logged({ scope });

    expect({ scope: clear, scopeHash }).toEqual({ scope: undefined, scopeHash: undefined, ...shown });
  });

  it("uses the trace of the process if configured, even if there is none", () => {
    expect(logged({ traceId: () => "running" })[2].traceId).toBe("running");
    expect(logged({ traceId: () => undefined })[2]).not.toHaveProperty("traceId");
  });

  it("H38: names an error, and repeats nothing of its message", () => {
    const secret = "canary-99";
    const line = logged({}, { ...EVENT, decision: "released", error: new TypeError(secret) });

    expect(line[2].errorName).toBe("TypeError");
    expect(JSON.stringify(line)).not.toContain(secret);
    expect(logged({}, { ...EVENT, error: { name: secret } })[2].errorName).toBe("object");
  });

  it("writes each decision, and a warning or an error for what needs attention", () => {
    const levelOf = (decision: (typeof DECISIONS)[number]) => logged({}, { ...EVENT, decision })[0];
    const of = (level: string) => DECISIONS.filter((decision) => levelOf(decision) === level);

    expect(of("info")).toEqual(["executed", "replayed", "in-progress", "verified", "released"]);
    expect(of("error")).toEqual(["held", "completion-lost", "outcome-unknown", "store-failed"]);
    expect([...of("info"), ...of("warn"), ...of("error")]).toHaveLength(DECISIONS.length);
  });

  it("writes one line of JSON to the console without a logger", () => {
    const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
    decisionLog()({ decision: "key-missing", operation: "pay", durationMs: 0 });

    expect(warn.mock.calls).toHaveLength(1);
    expect(JSON.parse(`${warn.mock.calls[0]}`)).toEqual({
      level: "warn",
      message: "onceonly: key-missing",
      decision: "key-missing",
      operation: "pay",
      durationMs: 0,
    });
  });

  it.each([
    [{ logger: { info: () => {} } }, "logger"],
    [{ scope: "plain" }, "scope"],
    [{ traceId: "1" }, "traceId"],
    [{ keys: "left-out" }, "keys"],
    [{ key: "clear" }, "key"],
  ])("rejects %j immediately", (options, name) => {
    expect(() => decisionLog(options as never)).toThrow(name);
  });
});
