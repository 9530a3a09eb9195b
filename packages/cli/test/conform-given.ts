// A server that honours keys by hand, with one defect at a time, and a way to run `onceonly conform` on it.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import type { Clock } from "onceonly/kit";
import { afterEach } from "vitest";
import { COMMANDS, runCommand } from "../lib/commands.ts";
import type { Finding, Verdict } from "../lib/conform/checks.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** On a free port of this machine, until the test ends. */
export async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<string> {
  const server = createServer((request, response) => void answer(request, response));
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const DEFECTS = {
  "runs each request": ["replay", "race", "lost-answer", "mismatch"],
  "remembers responses, but doesn't claim": ["race", "caller-gone"],
  "forgets a key when its caller hangs up": ["caller-gone"],
  "doesn't look at the body": ["mismatch"],
  "runs another body under the same key": ["mismatch"],
  "forgets the first body once another came": [],
  "shares keys between callers": ["other-caller"],
  "cuts long keys": ["long-key"],
  "uses an empty key": ["empty-key"],
} as const;

export type Defect = keyof typeof DEFECTS;

/** Enough for everything that was sent to arrive. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await setImmediate();
}

interface Entry {
  readonly body: string;
  readonly answer: Promise<readonly [status: number, body: string]>;
}

/** `POST` has an effect and answers with its number, `GET` answers how many there were. */
export function careless(defect?: Defect): Promise<string> {
  let effects = 0;
  const entries = new Map<string, Entry>();
  const run = async (): Promise<readonly [number, string]> => {
    await turns(40);
    return [201, JSON.stringify({ order: { id: ++effects } })];
  };

  async function answer(request: IncomingMessage, response: ServerResponse) {
    if (request.method === "GET") return [200, `${effects}`] as const;
    const lines = request.headersDistinct["idempotency-key"] ?? [];
    const body = await text(request);
    const [, key] = /^"?([ !#-[\]-~]*?)"?$/.exec(lines.length === 1 ? lines[0]! : "\u0000") ?? [];
    const isOdd = (lines[0]?.split('"').length ?? 1) % 2 === 0;
    if (key === undefined || isOdd || (key === "" && defect !== "uses an empty key"))
      return [400, "key"] as const;
    if (defect === "runs each request") return run();
    const caller = defect === "shares keys between callers" ? "" : `${request.headers.authorization}`;
    const name = `${caller} ${defect === "cuts long keys" ? key.slice(0, 255) : key}`;
    const entry = entries.get(name);
    if (entry && entry.body !== body && defect !== "doesn't look at the body" && key !== "") {
      if (defect === "runs another body under the same key") return run();
      if (defect === "forgets the first body once another came") entries.set(name, { ...entry, body });
      return [422, "mismatch"] as const;
    }
    if (entry) return entry.answer;
    const made = run();
    const remember = () => entries.set(name, { body, answer: made });
    if (defect !== "remembers responses, but doesn't claim") remember();
    if (defect === "forgets a key when its caller hangs up")
      response.once("close", () => !response.writableFinished && entries.delete(name));
    const first = await made;
    if (defect === "remembers responses, but doesn't claim") remember();
    return first;
  }

  return serve(async (request, response) => {
    const [status, body] = await answer(request, response);
    response.statusCode = status;
    response.end(body);
  });
}

const atOnce: Clock = { now: () => Date.now(), sleep: () => turns(10) };

export interface ConformReport {
  readonly url: string;
  readonly profile: string;
  readonly effectsBy: string;
  readonly counts: Readonly<Record<Verdict, number>>;
  readonly findings: readonly (Finding & { readonly check: string })[];
}

/** Runs the command. Nothing waits for real, unless a test's clock does. */
export async function conform(args: readonly string[], clock: Clock = atOnce) {
  const lines: string[] = [];
  const print = (line: string) => void lines.push(line);
  const terminal = { print, clock, env: {}, confirm: async () => undefined };
  const status = await runCommand(COMMANDS.conform!, args, terminal);
  return { status, text: lines.join("\n") };
}

/** The same with `--json`, read. */
export async function conformReport(args: readonly string[], clock?: Clock) {
  const { status, text } = await conform([...args, "--json"], clock);
  const report = JSON.parse(text) as ConformReport;
  const checks = (verdict: Verdict) =>
    report.findings.filter((each) => each.verdict === verdict).map(({ check }) => check);
  return { status, report, checks };
}
