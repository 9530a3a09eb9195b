// An MCP server over stdio whose refunds are lines of files, so that a test can count them whatever happens to the process.
// What goes wrong in a call stands in its `_meta`.
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { AbandonedAttempt } from "onceonly";
import { onceTool } from "onceonly/agents";
import { DynamoDBStore } from "onceonly/lean";
import { leapingClock } from "../kit/time/leaping-clock.ts";
import { type Extra, INPUT, type Refund, refunded } from "./refund.ts";

const { EFFECTS = "", TABLE, UNPROTECTED } = process.env;

const clock = leapingClock();
const fileOf = ({ orderId }: Refund) => join(EFFECTS, orderId);

async function refund(
  order: Refund,
  { childKey }: { readonly childKey: (name: string) => string },
  { _meta, signal, sendNotification }: Extra,
) {
  const reference = childKey("refund");
  const takeEffect = () => appendFileSync(fileOf(order), `${reference}\n`);
  const fault = _meta?.fault;
  if (fault === "throws") throw new Error("the provider is down");
  if (fault === "dies first") process.kill(process.pid, "SIGKILL");
  if (fault !== "cancelled first") takeEffect();
  if (fault === "dies") process.kill(process.pid, "SIGKILL");
  if (fault === "cancelled first" || fault === "cancelled") {
    // The agent gives up when it gets this.
    await sendNotification({
      method: "notifications/progress",
      params: { progressToken: _meta?.progressToken as number, progress: 1 },
    });
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    throw signal.reason;
  }
  return refunded(`refunded ${order.cents} cents`);
}

/** The provider knows the refund by its reference. */
function verify({ childKey, input }: AbandonedAttempt<Refund>) {
  const wasMade = readRefunds(input).includes(childKey("refund"));
  return wasMade
    ? { outcome: "happened" as const, result: refunded(`refunded ${input.cents} cents`) }
    : { outcome: "did-not-happen" as const };
}

function readRefunds(order: Refund): readonly string[] {
  try {
    return readFileSync(fileOf(order), "utf8").split("\n");
  } catch {
    return [];
  }
}

const unprotected = async (order: Refund, extra: Extra) => refund(order, { childKey: () => "none" }, extra);

const protectedRefund = (): ((order: Refund, extra: Extra) => ReturnType<typeof unprotected>) =>
  onceTool(refund, {
    operation: "refund",
    store: new DynamoDBStore({ tableName: TABLE }),
    clock,
    intent: ["orderId", "cents"],
    // One user's process.
    scope: "public",
    whenInProgress: "reject",
    whenAbandoned: verify,
  });

/** The agent's whole wait so far, in seconds: the next process starts without it. */
let leapt = 0;
const run = UNPROTECTED ? unprotected : protectedRefund();
const server = new McpServer({ name: "shop", version: "1" });
server.registerTool("refund", { inputSchema: INPUT }, (order, extra) => {
  const waited = Number(extra._meta?.waitedSeconds) || 0;
  clock.leap(waited - leapt);
  leapt = waited;
  return run(order, extra);
});
process.stdin.once("end", () => process.exit());
await server.connect(new StdioServerTransport());
