// The tool of these tests: its arguments and its results.
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { CallToolResult, ServerNotification, ServerRequest } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

export interface Refund {
  readonly orderId: string;
  readonly cents: number;
  readonly note?: string | undefined;
  readonly planId?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

export const INPUT = {
  orderId: z.string(),
  cents: z.number().int(),
  note: z.string().optional(),
  planId: z.string().optional(),
  idempotencyKey: z.string().optional(),
};

export const refunded = (refundId: string): CallToolResult => ({
  content: [{ type: "text", text: refundId }],
});
