// `onceonly conform` finds each defect that a server can have, passes our own adapters, and keeps to servers of the user's.
import { text } from "node:stream/consumers";
import { acpProfile, httpIdempotent, ietfProfile, stripeProfile } from "onceonly";
import { MemoryStore } from "onceonly/testing";
import { describe, expect, it } from "vitest";
import { fakeClock } from "../../../lib/testing/fake-clock.ts";
import { type Handle, type Options, SERVERS, type Start } from "../../../test/http/given.ts";
import { careless, conform, conformReport, DEFECTS, type Defect, serve } from "./conform-given.ts";

const CALLERS = ["-H", "authorization: ana-secret", "--as", "authorization: ben-secret"];

const TOKENS: Readonly<Record<string, string>> = { "ana-secret": "ana", "ben-secret": "ben" };

/** The caller whose token it is, from the request of any framework. */
function callerOf(request: unknown): string | undefined {
  const { headers, req } = request as {
    headers?: object;
    req?: { header(name: string): string | undefined };
  };
  const token = headers instanceof Headers ? headers.get("authorization") : Object(headers).authorization;
  return TOKENS[req ? `${req.header("authorization")}` : `${token}`];
}

const lambda: Start = async (options, handle) => {
  const handler = httpIdempotent(
    async (_event: object, context) => {
      const { status = 201, body = "" } = await handle(context.idempotency as never, "");
      return { statusCode: status, body: `${body}` };
    },
    { operation: "create-order", store: new MemoryStore(), ...options } as never,
  ) as unknown as (
    event: object,
    context: object,
  ) => Promise<{ statusCode: number; headers?: object; body: string }>;
  const url = await serve(async (request, response) => {
    const { method = "", url: path = "", headersDistinct } = request;
    const headers = Object.entries(headersDistinct).map(([name, lines]) => [name, lines?.join(",")]);
    const event = {
      ...{ version: "2.0", rawPath: path, rawQueryString: "", body: await text(request) },
      headers: Object.fromEntries(headers),
      requestContext: { http: { method } },
    };
    const context = { getRemainingTimeInMillis: () => 30_000 };
    const answer = await handler(event, context);
    response.writeHead(answer.statusCode, answer.headers as never).end(answer.body);
  });
  return { url, close() {}, stop() {} };
};

/** Starts a server with our adapter. Its handler makes an order; the counter says how many there are. */
async function shop(start: Start, options: Options = {}) {
  let orders = 0;
  const make: Handle = () => ({ status: 201, body: JSON.stringify({ id: ++orders }) });
  const { url } = await start({ scope: callerOf as never, ...options }, make);
  return { url: `${url}/orders`, effects: await serve((_, response) => response.end(`${orders}`)) };
}

describe.each(Object.entries({ ...SERVERS, "a Lambda function": lambda }))("conform on %s", (_, start) => {
  it.each([
    ["ietf-07", ietfProfile],
    ["stripe", stripeProfile],
    ["acp", acpProfile],
  ])("43.3: our adapter holds every check of %s", async (name, profile) => {
    const { url, effects } = await shop(start, { profile });

    const { report, status } = await conformReport([
      url,
      "--profile",
      name,
      "--effects",
      effects,
      ...CALLERS,
    ]);

    expect(report.findings.filter(({ verdict }) => /broken|differs/.test(verdict))).toEqual([]);
    expect(status).toBe(0);
    const odd = name === "ietf-07" ? [] : ["malformed-key", "bare-key"];
    const skipped = report.findings.filter(({ verdict }) => verdict === "skipped");
    expect(skipped.map(({ check }) => check)).toEqual(["expiry", ...odd]);
  });
});

describe("conform", () => {
  it("43.3: waits until a key has expired, and sees whether it's new again", async () => {
    const clock = fakeClock(Date.now());
    const passing = { now: clock.now, sleep: (ms: number) => clock.advance(ms) };
    const { url } = await shop(SERVERS.Express, { clock, retentionSeconds: 60 });

    const args = [url, ...CALLERS];
    const soon = await conformReport([...args, "--expires-after", "10"], passing);
    const late = await conformReport([...args, "--expires-after", "60"], passing);

    expect(soon.checks("differs")).toEqual(["expiry"]);
    expect(late.checks("differs")).toEqual([]);
    expect(late.checks("held")).toContain("expiry");
  });

  it("43.3: finds nothing in a server that honours keys by hand", async () => {
    const url = await careless();

    const { status, checks } = await conformReport([url, "--effects", url, ...CALLERS]);

    expect([checks("broken"), checks("differs"), status]).toEqual([[], [], 0]);
  });

  it.each(Object.entries(DEFECTS))("43.3: finds a server that %s", async (defect, found) => {
    const url = await careless(defect as Defect);

    const { status, checks } = await conformReport([url, "--effects", url, ...CALLERS]);

    expect(status).toBe(1);
    expect(checks("broken")).toEqual(expect.arrayContaining([...found]));
    if (defect !== "runs each request") expect(checks("broken")).toEqual(found);
  });

  it("43.3: counts effects by the responses, or by their ids, if no address counts them", async () => {
    const url = await careless("remembers responses, but doesn't claim");

    const byResponse = await conformReport([url, ...CALLERS]);
    const byId = await conformReport([url, "--id-path", "order.id", ...CALLERS]);

    for (const { checks } of [byResponse, byId]) {
      expect(checks("broken")).toEqual(["race"]);
      expect(checks("skipped")).toEqual(["caller-gone", "expiry"]);
    }
    expect([byResponse, byId].map(({ report }) => report.effectsBy)).toEqual([
      "different responses",
      "the ids in responses",
    ]);
  });

  it("43.3: prints lines that repeat what it found, without the values of headers", async () => {
    const url = await careless("shares keys between callers");

    const { status, text } = await conform([url, "--effects", url, ...CALLERS]);

    expect(status).toBe(1);
    expect(text).toContain("broken   other-caller");
    expect(text).toContain("    KEY=$(uuidgen)\n");
    expect(text).toContain(
      `curl -i -X POST '${url}/' -H 'content-type: application/json' -H 'authorization: '"$OTHER_AUTHORIZATION" -H 'idempotency-key: "'"$KEY"'"' -d '{}'`,
    );
    expect(text).toMatch(
      /14 checks: 12 held, 0 differs, 1 broken, 1 skipped \(effects counted by --effects\)$/,
    );
    expect(text).not.toContain("secret");
  });

  it("43.3: says what differs from a profile, with a race as one line", async () => {
    let orders = 0;
    const kept = new Map<string, string>();
    const url = await serve(async (request, response) => {
      const key = `${request.headers["idempotency-key"]}`;
      await text(request);
      const first = kept.get(key);
      if (first === "") return response.writeHead(503).end();
      kept.set(key, first ?? "");
      await new Promise(setImmediate);
      const answer = first ?? `${++orders}`;
      kept.set(key, answer);
      response.end(answer);
    });

    const { text: printed } = await conform([url, "--concurrency", "3", "--other-body", "{}"]);

    expect(printed).toContain("differs  missing-key");
    if (printed.includes("differs  race")) expect(printed).toContain("for i in $(seq 3); do curl");
  });

  it("43.3: refuses to judge a server whose effects it can't see, or that refuses a valid request", async () => {
    const same = await serve((_, response) => response.end("ok"));
    const closed = await serve((_, response) => response.writeHead(401).end());

    await expect(conform([same])).rejects.toThrow("a second effect couldn't be seen: pass --effects");
    await expect(conform([same, "--effects", same])).rejects.toThrow(
      "--effects must answer 200 with a whole",
    );
    await expect(conform([closed])).rejects.toThrow("the server answered 401 to a valid request");
  });

  it.each([
    [["https://shop.example/orders"], "pass --yes-this-is-mine shop.example"],
    [["https://shop.example/orders", "--yes-this-is-mine", "other.example"], "isn't on this machine"],
    [["http://127.0.0.1.example.com/"], "isn't on this machine"],
    [["http://127.0.0.1:1/", "--effects", "http://shop.example/count"], "--effects isn't on this machine"],
    [["http://ana:secret@127.0.0.1/"], "the URL has credentials"],
    [["ftp://127.0.0.1/"], "must be an http or https URL"],
    [["127.0.0.1:3000/orders"], "must be an http or https URL"],
    [["http://127.0.0.1:1/", "--profile", "strip"], "no such profile `strip` (did you mean `stripe`?)"],
    [["http://127.0.0.1:1/", "--profile", "toString"], "no such profile"],
    [["http://127.0.0.1:1/", "-H", "secret"], '--header must be a header, such as "name: value"'],
    [["http://127.0.0.1:1/", "--key-header", "a b"], "--key-header must be a header"],
    [["http://127.0.0.1:1/", "--as", "a: b\r\nc: d"], "--as must be a header"],
    [["http://127.0.0.1:1/", "--concurrency", "1"], "--concurrency must be a whole number from 2 to 100"],
    [["http://127.0.0.1:1/", "--expires-after", "soon"], "--expires-after must be a whole number"],
    [["http://127.0.0.1:1/", "--body", "a=1"], "--other-body is required"],
  ])("43.3: refuses before any request: %j", async (args, message) => {
    const refused = conform(args);

    await expect(refused).rejects.toThrow(message);
    await expect(refused).rejects.not.toThrow(/: secret|ana:/);
  });
});
