// Whatever the body is and however the tries fail, every try sends the same key and the same bytes.
import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { server, useLoopbackServer } from "./given.ts";
import { FakeRuntime } from "./runtime-world.ts";
import type { Answer } from "./server-world.ts";

useLoopbackServer();

const text = "z\u00fcrich";
const bytes = new TextEncoder().encode(text);

function streamOf(...chunks: Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

function formOf(value: string): FormData {
  const form = new FormData();
  form.set("city", value);
  form.set("scan", new Blob([value], { type: "image/png" }), "scan.png");
  return form;
}

const bodies: readonly [string, () => RequestInit["body"], string | undefined, string | RegExp][] = [
  ["string", () => text, "text/plain;charset=UTF-8", text],
  ["empty string", () => "", "text/plain;charset=UTF-8", ""],
  ["Uint8Array", () => bytes, undefined, text],
  ["part of a buffer", () => new Uint8Array(bytes.buffer, 1, 4), undefined, "\u00fcri"],
  ["ArrayBuffer", () => bytes.buffer, undefined, text],
  ["Blob", () => new Blob([bytes], { type: "image/png" }), "image/png", text],
  [
    "URLSearchParams",
    () => new URLSearchParams({ q: "a b" }),
    "application/x-www-form-urlencoded;charset=UTF-8",
    "q=a+b",
  ],
  ["FormData", () => formOf(text), "multipart/form-data", /name="city"\r\n\r\nz\u00fcrich\r\n/],
  ["stream", () => streamOf(bytes.subarray(0, 3), bytes.subarray(3)) as never, undefined, text],
  ["no body", () => undefined, undefined, ""],
  ["null", () => null, undefined, ""],
];

/** Checks that all tries were one, and gives it. */
function theOneTry(tries: number) {
  expect(server.received).toHaveLength(tries);
  const [first] = server.received;
  for (const sent of server.received) {
    expect(sent.headers["idempotency-key"]).toBe(first!.headers["idempotency-key"]);
    expect(sent.headers["content-type"]).toBe(first!.headers["content-type"]);
    expect(sent.headers["transfer-encoding"]).toBeUndefined();
    expect(sent.body.equals(first!.body)).toBe(true);
    expect(sent.method).toBe(first!.method);
  }
  return first!;
}

const failing: Answer[] = [{ status: 503 }, { act: "drop" }, { act: "cut-off" }];

describe("idempotentFetch", () => {
  test.each(bodies)("sends a body again: %s", async (_, body, contentType, expected) => {
    server.script([...failing, { status: 201 }]);

    await new FakeRuntime().fetch(server.url, { method: "POST", body: body() });

    const sent = theOneTry(4);
    if (contentType === undefined) expect(sent.headers["content-type"]).toBeUndefined();
    else expect(sent.headers["content-type"]).toContain(contentType);
    if (typeof expected === "string") expect(sent.body.toString()).toBe(expected);
    else expect(sent.body.toString()).toMatch(expected);
  });

  it("sends a Request with its method, headers and body again", async () => {
    server.script([...failing, { status: 201 }]);
    const request = new Request(server.url, { method: "PATCH", body: text, headers: { "x-tenant": "a" } });

    await new FakeRuntime().fetch(request);

    const sent = theOneTry(4);
    expect(sent).toMatchObject({ method: "PATCH", headers: { "x-tenant": "a" } });
    expect(sent.headers["content-type"]).toBe("text/plain;charset=UTF-8");
    expect(sent.body.toString()).toBe(text);
  });

  it("lets init win over a Request, as fetch does", async () => {
    server.script([{ status: 503 }, { status: 201 }]);
    const request = new Request(server.url, { method: "PATCH", body: "old", headers: { "x-tenant": "a" } });

    await new FakeRuntime().fetch(request, {
      method: "PUT",
      body: "new",
      headers: { "content-type": "a/b" },
    });

    const sent = theOneTry(2);
    expect(sent).toMatchObject({ method: "PUT", headers: { "content-type": "a/b" } });
    expect(sent.headers["x-tenant"]).toBeUndefined();
    expect(sent.body.toString()).toBe("new");
  });

  it("sends a Request without a body again", async () => {
    server.script([{ status: 503 }, { status: 200 }, { status: 503 }, { status: 200 }]);

    await new FakeRuntime().fetch(new Request(server.url));
    expect(theOneTry(2).method).toBe("GET");

    server.script([{ status: 503 }, { status: 200 }]);
    await new FakeRuntime().fetch(new Request(server.url, { method: "POST" }));
    expect(theOneTry(2)).toMatchObject({ method: "POST", headers: { "content-length": "0" } });
  });

  it("refuses a Request whose body was read before", async () => {
    const request = new Request(server.url, { method: "POST", body: text });
    await request.text();

    await expect(new FakeRuntime().fetch(request)).rejects.toBeInstanceOf(TypeError);
    expect(server.received).toHaveLength(0);
  });

  it("throws a stream's error, and sends nothing", async () => {
    const broken = new ReadableStream({ pull: (controller) => controller.error(new RangeError("disk")) });

    await expect(
      new FakeRuntime().fetch(server.url, { method: "POST", body: broken as never }),
    ).rejects.toThrow("disk");
    expect(server.received).toHaveLength(0);
  });

  it("stops reading a stream that never ends when the caller aborts", async () => {
    const controller = new AbortController();
    const endless = new ReadableStream({ pull: () => controller.abort("enough") });
    const init = { method: "POST", body: endless as never, signal: controller.signal };

    await expect(new FakeRuntime().fetch(server.url, init)).rejects.toBe("enough");
  });

  it("carries the same key and the same bytes in every try, whatever fails", async () => {
    const failure = fc.oneof(
      fc.constantFrom<Answer>({ act: "drop" }, { act: "cut-off" }),
      fc.constant("timeout" as const),
      fc.record({ status: fc.constantFrom(429, 500, 502, 503, 504) }),
      fc
        .record({ status: fc.constantFrom(409, 429, 503), seconds: fc.nat({ max: 4 }) })
        .map(({ status, seconds }) => ({ status, headers: { "retry-after": `${seconds}` } })),
    );
    const body = fc.oneof(
      fc.string({ unit: "grapheme" }).map((value) => () => value),
      fc.uint8Array().map((value) => () => value),
      fc.uint8Array().map((value) => () => new Blob([value])),
      fc.string({ unit: "grapheme" }).map((value) => () => formOf(value)),
      fc.uint8Array().map((value) => () => streamOf(value) as never),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(failure, { maxLength: 6 }),
        body,
        fc.double({ min: 0, max: 0.99, noNaN: true }),
        async (failures, makeBody, fraction) => {
          const runtime = new FakeRuntime();
          runtime.fraction = fraction;
          const timeout: Answer = { act: "hang", onRequest: () => runtime.endTimer() };
          server.script([
            ...failures.map((each) => (each === "timeout" ? timeout : each)),
            { status: 201, body: "done" },
          ]);

          const init = { method: "POST", body: makeBody(), deadlineSeconds: 86_400 };
          const response = await runtime.fetch(server.url, init);

          expect(await response.text()).toBe("done");
          theOneTry(failures.length + 1);
        },
      ),
    );
  });
});
