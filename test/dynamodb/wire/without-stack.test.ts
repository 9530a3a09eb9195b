import { describe, expect, it, onTestFinished } from "vitest";
import { conditionRefused } from "../../../lib/dynamodb/group-sender.ts";
import { readAnswer } from "../../../lib/dynamodb/wire/json.ts";
import { withoutStack } from "../../../lib/dynamodb/wire/without-stack.ts";

const frames = (error: unknown) =>
  `${(error as Error).stack}`.split("\n").filter((line) => /^\s+at /.test(line));

function thrown(act: () => unknown): unknown {
  try {
    return act();
  } catch (error) {
    return error;
  }
}

const refused = (more: object) => ({
  statusCode: 400,
  headers: {},
  body: Buffer.from(JSON.stringify({ __type: "x#ConditionalCheckFailedException", ...more })),
});

describe("withoutStack", () => {
  it("R7: makes an error without frames, and restores the limit even if that throws", () => {
    const { stackTraceLimit } = Error;

    expect(frames(withoutStack(() => new TypeError("refused")))).toEqual([]);

    expect(thrown(() => withoutStack(() => JSON.parse("{")))).toBeInstanceOf(SyntaxError);

    expect(Error.stackTraceLimit).toBe(stackTraceLimit);
    expect(frames(new Error("after"))).not.toEqual([]);
  });

  it("R7: makes an error with its trace in a process that has frozen the limit", () => {
    const { stackTraceLimit } = Error;
    onTestFinished(() => {
      Object.defineProperty(Error, "stackTraceLimit", { value: stackTraceLimit, writable: true });
    });
    Object.defineProperty(Error, "stackTraceLimit", { writable: false, configurable: true });

    expect(frames(withoutStack(() => new Error("refused")))).not.toEqual([]);
  });
});

describe("the refusal that each replay meets", () => {
  it("R7: has no trace from the lean client, unless the caller didn't ask for the item", () => {
    const replay = thrown(() => readAnswer(refused({ Item: { pk: { S: "1" } } })));

    expect(replay).toMatchObject({ name: "ConditionalCheckFailedException", Item: { pk: { S: "1" } } });
    expect(frames(replay)).toEqual([]);
    expect(frames(thrown(() => readAnswer(refused({}))))).not.toEqual([]);
  });

  it("R7: has no trace from a group", () => {
    expect(frames(conditionRefused({ pk: { S: "1" } }))).toEqual([]);
  });
});
