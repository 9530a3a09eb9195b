/** One row of a table of ways to answer or to read: the same handler bare and behind onceonly, over a raw HTTP/1.1 client. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, type IncomingMessage, type OutgoingHttpHeaders, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { root } from "../kit/project.ts";

/**
 * What a row promises. `equal`: the first answer and the replay are the bare answer, with one effect. `decoded`: the same, but the
 * replay is not compressed. `unrecorded`: each answer is the bare one, and each call runs. `refused`: both calls get 500 and the
 * reason, with one effect, or none if it says `before`. `broken`: the connection breaks as it does bare, and the claim is left to
 * its lease.
 */
export type Promised =
  | "equal"
  | "decoded"
  | "unrecorded"
  | "broken"
  | { readonly refused: RegExp; readonly before?: true };

export interface Exchange {
  readonly status: number | undefined;
  readonly message: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly trailers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  readonly informed: readonly number[];
  readonly isBroken: boolean;
}

/** What a request is sent with. */
export interface Sending {
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
}

const agent = new Agent({ keepAlive: false });
/** These belong to the connection or the moment. */
const OMITTED = ["date", "connection", "keep-alive", "transfer-encoding"];

function exchange(url: string, { headers, body = "" }: Sending = {}): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const informed: number[] = [];
    const broken = { status: undefined, message: undefined, headers: {}, trailers: {}, body: "", informed };
    const sending = request(url, { method: "POST", agent, headers: { ...headers } });
    sending.on("information", ({ statusCode }) => informed.push(statusCode));
    sending.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNRESET") resolve({ ...broken, isBroken: true });
      else reject(error);
    });
    sending.on("response", (answer: IncomingMessage) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("error", () => {});
      answer.on("close", () => {
        const kept = Object.entries(answer.headers).filter(([name]) => !OMITTED.includes(name));
        resolve({
          status: answer.statusCode,
          message: answer.statusMessage,
          // Hono's server for Node writes a space where a Response has none.
          headers: Object.fromEntries(
            kept.map(([name, value]) => [name, `${value}`.replace("; charset", ";charset")]),
          ),
          trailers: { ...answer.trailers },
          body: Buffer.concat(chunks).toString("latin1"),
          informed,
          isBroken: !answer.complete,
        });
      });
    });
    sending.end(body);
  });
}

/** The length of a body is framing, where the bare answer comes in chunks. */
function comparable(answer: Exchange, bare: Exchange): Exchange {
  const { "content-length": length, ...headers } = answer.headers;
  const isSized = bare.headers["content-length"] !== undefined;
  return isSized && length !== undefined
    ? { ...answer, headers: { ...headers, "content-length": length } }
    : { ...answer, headers };
}

function replayOf(bare: Exchange, isDecoded: boolean, isExpecting: boolean): Exchange {
  const left = isDecoded ? ["set-cookie", "content-encoding", "content-length"] : ["set-cookie"];
  const kept = Object.entries(bare.headers).filter(([name]) => !left.includes(name));
  const bytes = Buffer.from(bare.body, "latin1");
  return {
    ...bare,
    // Node's server sends this one before any handler runs.
    informed: isExpecting ? [100] : [],
    headers: { ...Object.fromEntries(kept), "idempotent-replayed": "true" },
    body: (isDecoded ? gunzipSync(bytes) : bytes).toString("latin1"),
  };
}

/**
 * Plays a row.
 * @param bare the address of the bare handler, once the same one behind onceonly
 * @param runs how often the handler behind onceonly has run
 */
async function play(
  promised: Promised,
  sites: { readonly bare: string; readonly once: string; readonly runs: () => number },
  { headers, ...sending }: Sending = {},
): Promise<void> {
  const send = (url: string) =>
    exchange(url, { ...sending, headers: { ...headers, "idempotency-key": "key-1" } });
  const bare = typeof promised === "string" ? await send(sites.bare) : undefined;
  // Callers get a code. The reason is for the operator, in the log.
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  const first = await send(sites.once);
  const reasons = log.mock.calls.flat().join("\n");
  const again = await send(sites.once);
  // If a run starts after its answer was sent, it has started by the time the next answer arrives.
  await send(sites.once);
  log.mockRestore();
  const runs = sites.runs();

  if (bare === undefined) {
    const { refused, before } = promised as Exclude<Promised, string>;
    expect(before ? first.body + reasons : reasons).toMatch(refused);
    for (const { status, body } of [first, again]) {
      if (!before) expect(body).toContain("RESPONSE_NOT_STORABLE");
      expect(status).toBe(500);
    }
    expect(runs).toBe(before ? 0 : 1);
    return;
  }
  if (promised === "broken") {
    // What was sent before is held back, so that only the break is the same.
    expect([bare.isBroken, first.isBroken, again.status]).toEqual([true, true, 409]);
    expect(runs).toBe(1);
    return;
  }
  const expected =
    promised === "unrecorded" ? bare : replayOf(bare, promised === "decoded", headers?.expect !== undefined);
  expect(comparable(first, bare)).toEqual(bare);
  expect(comparable(again, expected)).toEqual(expected);
  expect(runs).toBe(promised === "unrecorded" ? 3 : 1);
}

/** A row: what it promises, how the handler answers, and how it is called. */
export type Row<Handle> = readonly [title: string, promised: Promised, handle: Handle, sending?: Sending];

/** Starts a server with the route `/<index>` for each row. `onRun` is given if the handlers are behind onceonly. */
export type StartRows<Handle> = (
  handles: readonly Handle[],
  onRun: ((at: number) => void) | undefined,
) => Promise<{ readonly server: Server; readonly close: () => unknown }>;

/** Declares a test for each row of a table, and one for its counts. */
export function table<Handle>(title: string, rows: readonly Row<Handle>[], start: StartRows<Handle>): void {
  describe(title, () => {
    const runs = rows.map(() => 0);
    const urls: string[] = [];
    const closing: (() => unknown)[] = [];

    beforeAll(async () => {
      const handles = rows.map(([, , handle]) => handle);
      for (const onRun of [undefined, (at: number) => runs[at]!++]) {
        const { server, close } = await start(handles, onRun);
        if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening");
        urls.push(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
        closing.push(() => server.closeAllConnections(), close);
      }
    });
    afterAll(() => {
      for (const close of closing) close();
    });

    it.each(rows.map((row, at) => [row[0], row, at] as const))(
      "%s",
      async (_title, [, promised, , sending], at) => {
        const [bare, behind] = urls.map((url) => `${url}/${at}`) as [string, string];
        await play(promised, { bare, once: behind, runs: () => runs[at]! }, sending);
      },
    );

    it("is counted in docs/reference/servers.md", () => {
      const page = readFileSync(join(root, "docs/reference/servers.md"), "utf8");
      const refused = rows.filter(([, promised]) => typeof promised !== "string").length;
      const name = title.replace(/^H83: A3: /, "");
      const row = page.split("\n").find((line) => line.startsWith(`| ${name} |`));
      expect(row).toBe(`| ${name} | ${rows.length - refused} | ${refused} |`);
    });
  });
}

/** The options of each row. */
export const ROW_OPTIONS = { maxResponseBytes: 100_000, whenInProgress: "reject" } as const;

/** An upload with a file and a field. */
export const MULTIPART: Sending = {
  headers: { "content-type": "multipart/form-data; boundary=XX" },
  body: [
    '--XX\r\ncontent-disposition: form-data; name="item"\r\n\r\nbook\r\n',
    '--XX\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain\r\n\r\nfile text\r\n',
    "--XX--\r\n",
  ].join(""),
};
