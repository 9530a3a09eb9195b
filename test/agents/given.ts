// An MCP server with one tool and its real client, in one process, and the effects that the tool has had.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Execution } from "onceonly";
import { type OnceToolOptions, onceTool } from "onceonly/agents";
import { fakeClock, MemoryStore } from "onceonly/testing";
import { z } from "zod";
import { type Extra, INPUT, type Refund, refunded } from "./refund.ts";

/** Nothing may be added to such a result. */
const OUTPUT = z.strictObject({ refundId: z.string() });

export type RefundOptions = OnceToolOptions<Refund, readonly [Extra]>;
export type RefundTool = (refund: Refund, execution: Execution, extra: Extra) => Promise<CallToolResult>;

/** A tool of a server, with a record of its effects. */
export function refunds(options: Partial<RefundOptions> = {}, tool?: RefundTool) {
  const effects: Refund[] = [];
  const clock = fakeClock();
  const store = new MemoryStore();
  const counted: RefundTool = async (refund, execution, extra) => {
    effects.push(refund);
    return tool ? await tool(refund, execution, extra) : refunded(`r${effects.length}`);
  };
  const run = onceTool(counted, {
    operation: "refund",
    store,
    clock,
    intent: ["orderId", "cents"],
    scope: ({ authInfo }) => authInfo?.clientId,
    ...options,
  });
  return { run, effects, clock, store };
}

/** A client of a new server with that tool, as the principal that the server has verified. */
export async function connect(
  run: (refund: Refund, extra: Extra) => Promise<CallToolResult>,
  { as = "agent", hasOutput = false }: { readonly as?: string; readonly hasOutput?: boolean } = {},
) {
  const server = new McpServer({ name: "shop", version: "1" });
  server.registerTool("refund", { inputSchema: INPUT, ...(hasOutput && { outputSchema: OUTPUT }) }, run);
  const client = new Client({ name: "agent", version: "1" });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const send = ours.send.bind(ours);
  const authInfo = { token: "verified", clientId: as, scopes: [] };
  ours.send = (message, options) => send(message, { ...options, authInfo });
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  // The client then checks each result by the tool's schema.
  if (hasOutput) await client.listTools();

  async function call(
    args: Readonly<Record<string, unknown>>,
    {
      meta,
      ...options
    }: { meta?: Record<string, unknown>; signal?: AbortSignal; onprogress?: () => void } = {},
  ): Promise<CallToolResult> {
    const params = {
      name: "refund",
      arguments: { orderId: "o1", cents: 500, ...args },
      ...(meta && { _meta: meta }),
    };
    return (await client.callTool(params, undefined, options)) as CallToolResult;
  }
  return { call, client };
}

/** All that the agent reads. */
export const textOf = ({ content }: CallToolResult): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("\n");

export const statusOf = ({ _meta }: CallToolResult) => _meta?.onceonly;
