import type middy6 from "@middy/core";
import httpCors from "@middy/http-cors";
import httpErrorHandler from "@middy/http-error-handler";
import httpJsonBodyParser from "@middy/http-json-body-parser";
import { httpIdempotency, httpIdempotent } from "onceonly";
import { expect, it } from "vitest";
import { describeOnMiddies } from "../../kit/middies.ts";
import { type Answer, given } from "../given.ts";
import { v2Event } from "../http/given.ts";

const CORS = "Access-Control-Allow-Origin";
const headers = { "Idempotency-Key": '"k1"', "Content-Type": "application/json" };

const bodyParser = () => httpJsonBodyParser() as middy6.MiddlewareObj;

const serializer = (): middy6.MiddlewareObj => ({
  after: (request) => {
    request.response = { ...request.response, body: JSON.stringify(request.response.body) };
  },
});

const failWith = (statusCode: number) => async () => {
  throw Object.assign(new Error("no such thing"), { statusCode });
};
const created = async () => ({ statusCode: 201, headers: {}, body: "created" });

/** H49: what each place in the stack means. Stacks are written from the outside to the inside. */
describeOnMiddies("httpIdempotency", (middy) => {
  const stackOf = (outer: middy6.MiddlewareObj[], inner: middy6.MiddlewareObj[], handle: () => unknown) => {
    const { options, context, states } = given();
    const handler = middy()
      .use(outer)
      .use(httpIdempotency({ ...options, scope: "public" }))
      .use(inner)
      .handler(async () => handle());
    const send = async (more: object = {}) =>
      (await handler({ ...v2Event({ headers }), ...more }, context())) as Answer;
    return { send, states };
  };

  it("H49: throws on the first event when a body parser comes before it", async () => {
    const { send, states } = stackOf([bodyParser()], [], created);

    await expect(send()).rejects.toMatchObject({ code: "INVALID_OPTION", option: "fingerprint" });
    expect(states()).toEqual([]);
  });

  it("H49: works with a body parser after it", async () => {
    const { send } = stackOf([], [bodyParser()], created);

    expect(await send()).toMatchObject({ statusCode: 201 });
    expect(await send()).toMatchObject({ statusCode: 201, headers: { "Idempotent-Replayed": "true" } });
    expect((await send({ body: '{"other":1}' })).statusCode).toBe(422);
  });

  it("H49: releases when a body parser after it rejects the body, so a corrected request runs", async () => {
    const { send, states } = stackOf([httpErrorHandler({ logger: undefined })], [bodyParser()], created);

    expect((await send({ body: "{" })).statusCode).toBe(415);
    expect(states()).toEqual(["released"]);
    expect((await send()).statusCode).toBe(201);
  });

  it("H49: stores the output of a serializer after it, and reports one that comes before it", async () => {
    const handle = async () => ({ statusCode: 201, body: { id: 1 } });
    const after = stackOf([], [serializer()], handle);
    const before = stackOf([serializer()], [], handle);
    const twice = stackOf([serializer()], [serializer()], handle);

    expect(await after.send()).toMatchObject({ body: '{"id":1}' });
    expect(await after.send()).toMatchObject({ body: '{"id":1}' });
    const refused = JSON.parse((await before.send()).body) as string;
    expect(JSON.parse(refused)).toMatchObject({ status: 500, code: "RESPONSE_NOT_STORABLE" });
    expect(await twice.send()).toMatchObject({ body: '"{\\"id\\":1}"' });
    expect(await twice.send()).toMatchObject({ body: '{"id":1}' });
  });

  it("H49: replays the CORS headers that a middleware after it has set, to their origin; one before it is skipped then", async () => {
    const cors = () => httpCors({ origin: "https://example.com" });
    const from = (Origin: string) => v2Event({ headers: { ...headers, Origin } });
    const after = stackOf([], [cors()], created);
    const before = stackOf([cors()], [], created);

    expect((await after.send(from("https://example.com"))).headers).toHaveProperty(CORS);
    expect((await after.send(from("https://example.com"))).headers).toHaveProperty(CORS);
    expect((await after.send(from("https://other.example"))).headers).not.toHaveProperty(CORS);
    expect((await after.send({ body: "" })).headers).not.toHaveProperty(CORS);
    expect((await before.send()).headers).toHaveProperty(CORS);
    expect((await before.send()).headers).not.toHaveProperty(CORS);
  });

  it.each([404, 500])("H49: lets an error handler on either side answer a handler's %i", async (status) => {
    const errorHandler = () => httpErrorHandler({ logger: undefined });
    const before = stackOf([errorHandler()], [], failWith(status));
    const after = stackOf([], [errorHandler()], failWith(status));

    expect((await before.send()).statusCode).toBe(status);
    expect((await after.send()).statusCode).toBe(status);
    expect([...before.states(), ...after.states()]).toEqual(["released", "released"]);
  });

  it("H49: an error handler on either side does not touch the answers of onceonly", async () => {
    const errorHandler = () => httpErrorHandler({ logger: undefined });

    for (const { send } of [stackOf([errorHandler()], [], created), stackOf([], [errorHandler()], created)]) {
      expect((await send({ headers: {} })).statusCode).toBe(400);
      await send();
      expect((await send({ body: "other" })).statusCode).toBe(422);
    }
  });
});

describeOnMiddies("httpIdempotent", (middy) => {
  it("H49: runs every middleware around it on replays and refusals too", async () => {
    const { options, context } = given();
    let shaped = 0;
    const handler = middy(httpIdempotent(created, { ...options, scope: "public" }))
      .use(httpCors({ origin: "https://example.com" }))
      .after(() => {
        shaped++;
      });
    const send = async (more: object = {}) =>
      (await handler({ ...v2Event({ headers }), ...more }, context())) as Answer;

    const answers = [await send(), await send(), await send({ body: "other" }), await send({ headers: {} })];

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201, 422, 400]);
    for (const answer of answers) expect(answer.headers).toHaveProperty(CORS);
    expect(shaped).toBe(4);
  });

  it("H49: says what to do when an outer parser has already changed the body", async () => {
    const { options, context } = given();
    const handler = middy(httpIdempotent(created, { ...options, scope: "public" })).use(bodyParser());

    await expect(handler(v2Event({ headers }), context())).rejects.toMatchObject({ option: "fingerprint" });
  });

  it("keeps the outcome open when the stack around it times out early", async () => {
    const { options, context, states } = given();
    const handler = middy(
      httpIdempotent(() => new Promise(() => {}), { ...options, scope: "public" }),
      {
        timeoutEarlyInMillis: 29_990,
      },
    ).use(httpErrorHandler({ logger: undefined }));

    expect(((await handler(v2Event({ headers }), context())) as Answer).statusCode).toBe(500);
    expect(states()).toEqual(["in-progress"]);
  });
});
