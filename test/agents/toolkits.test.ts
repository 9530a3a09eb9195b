// The same function in each toolkit's own tool: the AI SDK and LangChain, as an agent of theirs calls it.
import { tool as langChainTool } from "@langchain/core/tools";
import { generateText, stepCountIs, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { OutcomeUnknownError } from "onceonly";
import { onceTool } from "onceonly/agents";
import { MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { INPUT, type Refund } from "./refund.ts";

const inputSchema = z.object(INPUT);
const settings = () => ({
  operation: "refund",
  store: new MemoryStore(),
  intent: ["orderId", "cents"] as const,
  scope: "public" as const,
});
const refund = { orderId: "o1", cents: 500, planId: "task-7" };

describe("a tool of the AI SDK", () => {
  /** The results of two calls of one agent, as it reads them. */
  async function play(execute: (args: Refund) => Promise<unknown>, signal?: AbortSignal) {
    let step = 0;
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never;
    const model = new MockLanguageModelV3({
      doGenerate: async () => {
        step++;
        const input = JSON.stringify({ ...refund, note: `wording ${step}` });
        return step < 3
          ? {
              content: [{ type: "tool-call", toolCallId: `c${step}`, toolName: "refund", input }],
              finishReason: { unified: "tool-calls", raw: undefined },
              usage,
              warnings: [],
            }
          : {
              content: [{ type: "text", text: "done" }],
              finishReason: { unified: "stop", raw: undefined },
              usage,
              warnings: [],
            };
      },
    });
    const once = onceTool(execute, settings());
    await generateText({
      model,
      prompt: "Refund order o1.",
      tools: { refund: tool({ inputSchema, execute: once }) },
      stopWhen: stepCountIs(5),
      ...(signal && { abortSignal: signal }),
    });
    const { prompt } = model.doGenerateCalls.at(-1)!;
    return prompt
      .flatMap(({ role, content }) => (role === "tool" ? content : []))
      .map((part) => (part.type === "tool-result" ? part.output : part));
  }

  it("H71: gives the first result to a call in other words, and marks it in an object", async () => {
    let effects = 0;

    const [first, again] = await play(async () => ({ refundId: `r${++effects}` }));

    expect(first).toEqual({ type: "json", value: { refundId: "r1" } });
    expect(again).toEqual({
      type: "json",
      value: { refundId: "r1", onceonly: { status: "replayed", id: expect.any(String) } },
    });
    expect(effects).toBe(1);
  });

  it("H71: marks a text, and answers pending while the outcome isn't known", async () => {
    let effects = 0;
    const texts = await play(async () => `refund r${++effects}`);
    const pending = await play(async () => {
      throw new OutcomeUnknownError();
    });

    expect(texts[1]).toEqual({
      type: "text",
      value: expect.stringMatching(/^refund r1\n\n.*nothing ran again/),
    });
    expect(pending[0]).toMatchObject({ type: "json", value: { _meta: { onceonly: { status: "pending" } } } });
    expect(effects).toBe(1);
  });

  it("H71: shows errors to the agent", async () => {
    const once = onceTool(async () => "never", { ...settings(), plan: () => undefined });

    await expect(once(refund)).rejects.toThrow(/pass `planId`/);
  });
});

describe("a tool of LangChain", () => {
  const call = (args: object) => ({ type: "tool_call" as const, id: "c1", name: "refund", args });

  it("H71: gives the first result to a call in other words, with the plan of the thread", async () => {
    let effects = 0;
    const refunds = langChainTool(
      onceTool(async ({ orderId }: Refund) => `refunded ${orderId} (${++effects})`, {
        ...settings(),
        plan: (_, config?: { readonly configurable?: { readonly thread_id?: string } }) =>
          config?.configurable?.thread_id,
      }),
      { name: "refund", description: "Refunds an order.", schema: inputSchema },
    );
    const { planId: _, ...args } = refund;
    const config = { configurable: { thread_id: "t1" } };

    const first = await refunds.invoke(call({ ...args, note: "late" }), config);
    const again = await refunds.invoke(call({ ...args, note: "delayed" }), config);
    await refunds.invoke(call(args), { configurable: { thread_id: "t2" } });

    expect(first.content).toBe("refunded o1 (1)");
    expect(again.content).toMatch(/^refunded o1 \(1\)\n\n.*nothing ran again/);
    expect(effects).toBe(2);
  });

  it("H71: keeps the shape of a text with an artifact", async () => {
    const refunds = langChainTool(
      onceTool(async ({ cents }: Refund): Promise<[string, object]> => ["refunded", { cents }], settings()),
      {
        name: "refund",
        description: "Refunds an order.",
        schema: inputSchema,
        responseFormat: "content_and_artifact",
      },
    );

    await refunds.invoke(call(refund));
    const again = await refunds.invoke(call(refund));

    expect(again.content).toMatch(/^refunded\n\n.*nothing ran again/);
    expect(again.artifact).toEqual({ cents: 500 });
  });
});

describe("the mark of a replay", () => {
  it.each([
    ["nothing", undefined, "NOTE"],
    ["null", null, "NOTE"],
    ["a number", 7, "7\n\nNOTE"],
    ["a list of texts", ["a", "b"], ["a\n\nNOTE", "b"]],
    ["a list of objects", [{ id: 1 }], [{ id: 1, onceonly: { status: "replayed", id: "k1" } }]],
    ["a list of numbers", [1, 2], [1, 2, "NOTE"]],
    ["an empty list", [], ["NOTE"]],
    [
      "blocks",
      [{ type: "text", text: "a" }],
      [
        { type: "text", text: "a" },
        { type: "text", text: "NOTE" },
      ],
    ],
    [
      "blocks with an artifact",
      [[{ type: "text", text: "a" }], 7],
      [
        [
          { type: "text", text: "a" },
          { type: "text", text: "NOTE" },
        ],
        7,
      ],
    ],
    [
      "an object with other content",
      { content: "a" },
      { content: "a", onceonly: { status: "replayed", id: "k1" } },
    ],
  ])("stands where an agent reads it: in %s", async (_, result, marked) => {
    const once = onceTool(async (_args: Refund) => result as unknown, settings());

    await once({ ...refund, idempotencyKey: "k1" });
    const again = await once({ ...refund, idempotencyKey: "k1" });

    const note = /This call was already made[^"]*?that call\./g;
    expect(JSON.parse(JSON.stringify(again).replace(note, "NOTE"))).toEqual(marked);
  });
});
