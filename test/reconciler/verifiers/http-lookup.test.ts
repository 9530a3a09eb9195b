import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { type HttpLookupOptions, httpLookup } from "onceonly/reconciler";
import { describe, expect, it, onTestFinished } from "vitest";
import { questionAfter } from "./given.ts";

/** A provider that answers each request so. */
async function provider(status: number, body: unknown, headers: Record<string, string> = {}) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.writeHead(status, headers).end(typeof body === "string" ? body : JSON.stringify(body));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { requests, host: `127.0.0.1:${port}` };
}

const lookup = ({ host }: { host: string }, more: Partial<HttpLookupOptions> = {}) =>
  httpLookup({
    url: ({ childKey }) => `http://${host}/v1/charges?idempotency_key=${childKey("charge")}`,
    headers: async () => ({ Authorization: "Bearer secret" }),
    found: (body) =>
      (body as { data: { id: string }[] }).data[0] && {
        charge: (body as { data: { id: string }[] }).data[0]?.id,
      },
    ...more,
  });

describe("httpLookup", () => {
  it("H42: asks by the child key, with the headers, and a charge that is found happened", async () => {
    const there = await provider(200, { data: [{ id: "ch_1" }] });

    expect(await lookup(there)(questionAfter(0, {}))).toEqual({
      outcome: "happened",
      result: { charge: "ch_1" },
      evidence: { asked: `GET ${there.host}/v1/charges`, answered: "200" },
    });
    const [request] = there.requests;
    expect(request?.url).toContain("idempotency_key=child%20of%20order-7:%20charge");
    expect(request?.headers.authorization).toBe("Bearer secret");
  });

  it.each([
    [200, { data: [] }, "200, nothing found"],
    [404, "no such charge", "404"],
    [410, "", "410"],
  ])(
    "H42: an answer of %d with %j means that nothing happened, once the look-up has caught up",
    async (status, body, answered) => {
      const there = await provider(status, body);
      const evidence = { asked: `GET ${there.host}/v1/charges`, answered };

      expect(await lookup(there)(questionAfter(59, {}))).toEqual({ outcome: "unknown", evidence });
      expect(await lookup(there)(questionAfter(60, {}))).toEqual({ outcome: "did-not-happen", evidence });
      expect(await lookup(there, { lagsSeconds: 0 })(questionAfter(0, {}))).toEqual({
        outcome: "did-not-happen",
        evidence,
      });
    },
  );

  it.each([301, 401, 429, 500, 503])("H42: an answer of %d leaves the outcome unknown", async (status) => {
    const there = await provider(status, { data: [{ id: "ch_1" }] }, { Location: "http://127.0.0.1:1/" });

    expect(await lookup(there, { headers: () => ({}) })(questionAfter(600, {}))).toMatchObject({
      outcome: "unknown",
      evidence: { answered: `${status}` },
    });
    expect(there.requests).toHaveLength(1);
  });

  it("leaves an answer that isn't JSON, and an invalid address, to its caller", async () => {
    const there = await provider(200, "<html>");

    await expect(lookup(there)(questionAfter(600, {}))).rejects.toThrow(SyntaxError);
    await expect(lookup(there, { url: () => "charges" })(questionAfter(600, {}))).rejects.toThrow(TypeError);
  });

  it("needs no headers, and stops with the question's signal", async () => {
    const there = await provider(200, null);
    const question = { ...questionAfter(0, {}), signal: AbortSignal.abort(new Error("late")) };
    const { host } = there;

    await expect(httpLookup({ url: () => `http://${host}/`, found: () => null })(question)).rejects.toThrow(
      "late",
    );
    expect(
      await httpLookup({ url: () => `http://${host}/`, found: (body) => body })(questionAfter(0, {})),
    ).toMatchObject({
      outcome: "happened",
      result: null,
    });
  });

  it("refuses options that cannot work", () => {
    expect(() => httpLookup({ url: "https://a" } as unknown as HttpLookupOptions)).toThrow("`url` must be");
    expect(() => lookup({ host: "a" }, { lagsSeconds: -1 })).toThrow("`lagsSeconds` must be");
  });
});

it("R1: `found` may be asynchronous: its result is awaited, and undefined means that nothing was found", async () => {
  const there = await provider(200, { data: [] });
  const found = lookup(there, { lagsSeconds: 0, found: async () => ({ charge: "ch_1" }) });
  const none = lookup(there, { lagsSeconds: 0, found: async () => undefined });

  expect(await found(questionAfter(60, {}))).toMatchObject({
    outcome: "happened",
    result: { charge: "ch_1" },
  });
  expect(await none(questionAfter(60, {}))).toMatchObject({ outcome: "did-not-happen" });
});
