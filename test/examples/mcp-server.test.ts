// The example in its own process over stdio, with the real MCP client, DynamoDB's engine and a provider on loopback.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { root } from "../kit/project.ts";
import { connect, createTable, environmentFor } from "../kit/tables.ts";

const [engine] = inject("dynamodbEngines");
const made: string[] = [];
let losesAnswers = false;

const provider = createServer(async (request, response) => {
  if (request.method === "GET") return void response.end(JSON.stringify({ data: [] }));
  for await (const _ of request);
  made.push(`re_${made.length + 1}`);
  if (losesAnswers) request.socket.destroy();
  else response.writeHead(201).end(made.at(-1));
});
const agent = new Client({ name: "agent", version: "1" });

describe.skipIf(!engine)("the server", () => {
  beforeAll(async () => {
    provider.listen(0, "127.0.0.1");
    await once(provider, "listening");
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: ["--import", "tsx", "examples/mcp-server/server.ts"],
      cwd: root,
      env: {
        ...environmentFor(engine!.endpoint),
        IDEMPOTENCY_TABLE: await createTable(connect(engine!.endpoint)),
        PROVIDER_URL: `http://127.0.0.1:${(provider.address() as AddressInfo).port}`,
        PROVIDER_TOKEN: "test-token",
        USER_ID: "ann",
      },
    });
    await agent.connect(transport);
  });

  afterAll(async () => {
    await agent.close();
    provider.close();
  });

  async function refund(orderId: string, reason: string): Promise<string> {
    const args = { orderId, cents: 500, reason, planId: "task-7" };
    const { content } = await agent.callTool({ name: "refund", arguments: args });
    return (content as { readonly text: string }[]).map(({ text }) => text).join("\n");
  }

  it("refunds once for two calls in different words, and says so in the second result", async () => {
    expect(await refund("o1", "late delivery")).toBe("refunded: re_1");
    expect(await refund("o1", "The parcel was delayed")).toMatch(/^refunded: re_1\n.*nothing ran again/);
    expect(made).toEqual(["re_1"]);
  });

  it("answers pending instead of refunding again after the provider's answer was lost", async () => {
    made.length = 0;
    losesAnswers = true;

    const answers = [await refund("o2", "broken"), await refund("o2", "It arrived damaged")];

    for (const text of answers) expect(text).toMatch(/^Pending: .* call this tool again in 60 seconds/i);
    expect(made).toHaveLength(1);
  });
});
