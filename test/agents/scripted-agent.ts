// An agent with a seed instead of a model. It loses results, words its calls in another way, plans again and reconnects, until
// it has read that its refund was made.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { ToolStatus } from "onceonly/agents";

/** What went on in a number of runs. */
export interface Counts {
  runs: number;
  calls: number;
  lostResults: number;
  replans: number;
  reconnects: number;
  pending: number;
  replays: number;
}

export const noCounts = (): Counts => ({
  runs: 0,
  calls: 0,
  lostResults: 0,
  replans: 0,
  reconnects: 0,
  pending: 0,
  replays: 0,
});

/** What goes wrong in a call, and how often in a thousand. */
const FAULTS = [
  ["throws", 40],
  ["cancelled first", 60],
  ["cancelled", 60],
  ["dies first", 8],
  ["dies", 14],
  ["answer lost", 150],
  ["sent twice", 80],
  ["reconnects first", 10],
] as const;
type Fault = (typeof FAULTS)[number][0];

const WORDINGS = [
  "The parcel arrived late.",
  "Customer complained about the delay, refunding as promised",
  "refund (late delivery)",
  "Late parcel: full refund",
];

/** mulberry32 */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Server {
  readonly file: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** One agent, with one connection at a time. */
export class ScriptedAgent {
  readonly counts = noCounts();
  readonly #server: Server;
  readonly #random: () => number;
  #client: Client | undefined;
  /** All that it has waited, which every server of it adds to its clock. */
  #waitedSeconds = 0;
  /** The answer to the next call doesn't arrive. */
  #losesNext: (() => void) | undefined;

  constructor(seed: number, server: Server) {
    this.#random = seeded(seed);
    this.#server = server;
  }

  /** Resolves when the agent has read that the refund was made. */
  async refund(orderId: string): Promise<void> {
    const { counts } = this;
    counts.runs++;
    const intent = { orderId, cents: 100 + Math.floor(this.#random() * 900) };
    const names =
      this.#random() < 0.3 ? { idempotencyKey: `key of ${orderId}` } : { planId: `plan of ${orderId}` };
    let args: Readonly<Record<string, unknown>> = { ...intent, ...names };
    for (let attempt = 1; ; attempt++) {
      if (attempt > 50) throw new Error(`${orderId} has no end`);
      const note = WORDINGS[Math.floor(this.#random() * WORDINGS.length)];
      const result = await this.#call({ ...args, note });
      const status = result?._meta?.onceonly as ToolStatus | undefined;
      if (status?.status === "pending") {
        counts.pending++;
        this.#waitedSeconds += status.retryAfterSeconds!;
        // The plan is made from scratch, and keeps no more than the id.
        if (this.#random() < 0.5)
          args = { ...intent, planId: `plan ${attempt} of ${orderId}`, idempotencyKey: status.id };
      } else if (result && !result.isError) {
        if (status?.status === "replayed") counts.replays++;
        return;
      }
      counts.replans++;
    }
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }

  /** Resolves to the answer, or to nothing if it is lost. */
  async #call(args: Readonly<Record<string, unknown>>): Promise<CallToolResult | undefined> {
    const { counts } = this;
    const fault = this.#fault();
    if (fault === "reconnects first") await this.close();
    const client = await this.#connected();
    const given = new AbortController();
    const send = () => {
      counts.calls++;
      return client.callTool(
        { name: "refund", arguments: args, _meta: { fault, waitedSeconds: this.#waitedSeconds } },
        undefined,
        {
          signal: given.signal,
          onprogress: () => given.abort(),
        },
      ) as Promise<CallToolResult>;
    };
    if (fault === "answer lost") this.#losesNext = () => given.abort();
    try {
      const [result] = await Promise.all(fault === "sent twice" ? [send(), send()] : [send()]);
      return result;
    } catch {
      counts.lostResults++;
      return undefined;
    }
  }

  #fault(): Fault | undefined {
    let at = this.#random() * 1000;
    return FAULTS.find(([, often]) => {
      at -= often;
      return at < 0;
    })?.[0];
  }

  async #connected(): Promise<Client> {
    if (this.#client) return this.#client;
    const { file, environment } = this.#server;
    const client = new Client({ name: "agent", version: "1" });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [file],
      env: { ...environment },
    });
    await client.connect(transport);
    const { onmessage } = transport;
    transport.onmessage = (message) => {
      const lose = "id" in message && !("method" in message) ? this.#losesNext : undefined;
      this.#losesNext = lose ? undefined : this.#losesNext;
      if (lose) lose();
      else onmessage?.(message);
    };
    client.onclose = () => {
      if (this.#client === client) this.#client = undefined;
      this.counts.reconnects++;
    };
    this.#client = client;
    return client;
  }
}
