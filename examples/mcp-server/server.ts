// An MCP server whose refunds happen once, however an agent words, repeats or loses its calls.
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { OutcomeUnknownError } from "onceonly";
import { onceTool } from "onceonly/agents";
import { DynamoDBStore } from "onceonly/dynamodb";
import { httpLookup } from "onceonly/reconciler";
import { z } from "zod";

const { PROVIDER_URL, PROVIDER_TOKEN, IDEMPOTENCY_TABLE, USER_ID } = process.env;
const refunds = `${PROVIDER_URL}/refunds`;
const headers = { authorization: `Bearer ${PROVIDER_TOKEN}`, "content-type": "application/json" };
const answer = (text: string, isError = false) => ({ content: [{ type: "text" as const, text }], isError });

const inputSchema = {
  orderId: z.string(),
  cents: z.number().int().positive(),
  reason: z.string(),
  planId: z.string().describe("the id of your task or conversation: the same when you plan again"),
  idempotencyKey: z.string().optional().describe("the id of a pending call, to ask for it again"),
};
type Refund = z.infer<z.ZodObject<typeof inputSchema>>;

const refund = onceTool(
  async ({ orderId, cents, reason }: Refund, { childKey, signal }) => {
    try {
      const made = await fetch(refunds, {
        method: "POST",
        headers: { ...headers, "idempotency-key": childKey("refund") },
        body: JSON.stringify({ orderId, cents, reason }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(5000)]),
      });
      if (made.status === 422) return answer("the order was never paid", true);
      if (!made.ok) throw new Error(`the provider answered ${made.status}`);
      return answer(`refunded: ${await made.text()}`);
    } catch (error) {
      // The refund may have been made. The agent gets "pending" until `whenAbandoned` has found out.
      throw new OutcomeUnknownError(error);
    }
  },
  {
    operation: "refund",
    store: new DynamoDBStore({ tableName: IDEMPOTENCY_TABLE }),
    // Not the reason: an agent words it in another way each time.
    intent: ["orderId", "cents"],
    // This process serves one user. Over HTTP: ({ authInfo }) => authInfo?.clientId
    scope: () => USER_ID,
    whenAbandoned: httpLookup({
      url: ({ childKey }) => `${refunds}?idempotency_key=${childKey("refund")}`,
      headers: () => headers,
      found: (body) =>
        (body as { data: object[] }).data.map((made) => answer(`refunded: ${JSON.stringify(made)}`))[0],
    }),
  },
);

const server = new McpServer({ name: "shop", version: "1.0.0" });
server.registerTool("refund", { description: "Refunds an order.", inputSchema }, refund);
await server.connect(new StdioServerTransport());
