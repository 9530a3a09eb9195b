// Every order of a usual stack: it either replays what it answered first, or says at its first event what is wrong with it.
import type middy6 from "@middy/core";
import httpCors from "@middy/http-cors";
import httpErrorHandler from "@middy/http-error-handler";
import httpJsonBodyParser from "@middy/http-json-body-parser";
import { httpIdempotency } from "onceonly";
import { expect, it } from "vitest";
import { type Answer, given } from "./given.ts";
import { v2Event } from "./http-events.ts";
import { describeOnMiddies } from "./middies.ts";

const NAMES = ["idempotency", "body parser", "CORS", "error handler", "serializer"] as const;
type Name = (typeof NAMES)[number];
const headers = { "Idempotency-Key": '"k1"', "Content-Type": "application/json" };

const serializer: middy6.MiddlewareObj = {
  after: (request) => {
    const { body } = request.response;
    if (typeof body !== "string") request.response = { ...request.response, body: JSON.stringify(body) };
  },
};

const permutations = (names: readonly Name[]): Name[][] =>
  names.length === 0
    ? [[]]
    : names.flatMap((first) =>
        permutations(names.filter((name) => name !== first)).map((rest) => [first, ...rest]),
      );

/** Written from the outside to the inside, as stacks are. */
const comesBefore = (stack: readonly Name[], one: Name, other: Name) =>
  stack.indexOf(one) < stack.indexOf(other);

describeOnMiddies("httpIdempotency", (middy) => {
  async function play(stack: readonly Name[]) {
    const { options, context, store } = given();
    const parts: Record<Name, middy6.MiddlewareObj> = {
      idempotency: httpIdempotency({ ...options, scope: "public" }) as unknown as middy6.MiddlewareObj,
      "body parser": httpJsonBodyParser() as middy6.MiddlewareObj,
      CORS: httpCors({ origin: "https://example.com" }),
      "error handler": httpErrorHandler({ logger: undefined }),
      serializer,
    };
    let runs = 0;
    const handler = middy()
      .use(stack.map((name) => parts[name]))
      .handler(async () => ({ statusCode: 201, headers: {}, body: { order: ++runs } }) as never);
    const send = () =>
      handler(v2Event({ headers }) as never, context()).then(
        (answer) => answer as unknown as Answer,
        (error: { code?: string }) => ({ statusCode: 0, body: String(error.code), headers: {} }) as Answer,
      );
    return { answers: [await send(), await send(), await send()], runs: () => runs, records: store.records };
  }

  it("H49: of all orders of five middlewares, each replays its first answer, or refuses at the first event", async () => {
    const refused: Name[][] = [];
    for (const stack of permutations(NAMES)) {
      const { answers, runs, records } = await play(stack);
      const [first] = answers as [Answer];
      const told = { stack, answers };

      if (comesBefore(stack, "body parser", "idempotency")) {
        refused.push(stack);
        // Nothing runs and nothing is recorded; the error handler makes a 500 of it wherever it is.
        expect({ ...told, runs: runs(), records: records.size }).toEqual({ ...told, runs: 0, records: 0 });
        expect({ ...told, status: first.statusCode }).toEqual({ ...told, status: 500 });
      } else if (comesBefore(stack, "serializer", "idempotency")) {
        // The result is an object where HTTP has text: done once, and told to every caller.
        expect({ ...told, runs: runs() }).toEqual({ ...told, runs: 1 });
        for (const answer of answers) {
          expect({ ...told, body: answer.body.includes("RESPONSE_NOT_STORABLE") }).toEqual({
            ...told,
            body: true,
          });
        }
      } else {
        expect({ ...told, runs: runs() }).toEqual({ ...told, runs: 1 });
        for (const { statusCode, body } of answers) expect([statusCode, body]).toEqual([201, '{"order":1}']);
      }
    }
    // Half of all orders have the parser first.
    expect(refused).toHaveLength(60);
  });
});
