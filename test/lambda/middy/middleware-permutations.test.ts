// Every order of eight of Middy's own middlewares, with ours at each of the nine places among them. A stack either replays
// what it answered first, or says at its first event what is wrong with it. ONCEONLY_PERMUTATIONS=all has all nine places
// in every order (362,880 stacks). Without it each order has one of them (40,320 stacks). The short form plays every
// eleventh of these stacks: each place is still met, since eleven and nine have no common divisor.
import type middy6 from "@middy/core";
import { httpIdempotency, PermanentError } from "onceonly";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { describeOnMiddies } from "../../kit/middies.ts";
import { inTier } from "../../setup/tier.ts";
import { type Answer, given } from "../given.ts";
import { v2Event } from "../http/given.ts";
import { REAL_NAMES, type RealName, realMiddlewares } from "./middlewares-given.ts";

type Name = RealName | "idempotency";
type Real = Readonly<Record<RealName, middy6.MiddlewareObj>>;

const PLACES = REAL_NAMES.length + 1;
const inAllPlaces = process.env.ONCEONLY_PERMUTATIONS === "all";
const STRIDE = inTier(11, 1);
const NOT_STORABLE = "500 RESPONSE_NOT_STORABLE";
const BROKEN = new Error("database down");
const FINAL = Object.assign(new PermanentError("sold out"), { statusCode: 410 });
const headers = { "Idempotency-Key": '"k1"', "Content-Type": "application/json" };

function* permutations(names: readonly RealName[]): Generator<readonly RealName[]> {
  if (names.length === 0) yield [];
  for (const first of names) {
    for (const rest of permutations(names.filter((name) => name !== first))) yield [first, ...rest];
  }
}

/** Written from the outside to the inside, as stacks are. */
function* stacksWith(first: RealName): Generator<readonly Name[]> {
  let index = REAL_NAMES.indexOf(first);
  for (const rest of permutations(REAL_NAMES.filter((name) => name !== first))) {
    if (!inAllPlaces && index % STRIDE !== 0) {
      index++;
      continue;
    }
    const order = [first, ...rest];
    const places = inAllPlaces ? Array.from({ length: PLACES }, (_, place) => place) : [index++ % PLACES];
    for (const place of places) yield [...order.slice(0, place), "idempotency", ...order.slice(place)];
  }
}

const isOutside = (stack: readonly Name[], name: RealName) =>
  stack.indexOf(name) < stack.indexOf("idempotency");

describeOnMiddies("httpIdempotency", (middy, major) => {
  // Half of the stacks have the serializer outside, which is a mistake that onceonly logs each time.
  beforeEach(() => {
    vi.spyOn(console, "error").mockImplementation(() => {});
  });
  afterEach(() => {
    vi.restoreAllMocks();
  });

  /** The answers to three requests with one key, by a handler that may throw at the first one. */
  async function play(stack: readonly Name[], real: Real, reports: boolean, thrown?: Error) {
    const { options, context, store } = given();
    const idempotency = httpIdempotency({ ...options, scope: "public" });
    let runs = 0;
    const handle = async () => {
      if (++runs === 1 && thrown) throw thrown;
      return { statusCode: 201, headers: {}, body: { order: runs } };
    };
    const handler = middy()
      .use(stack.map((name) => (name === "idempotency" ? idempotency : real[name])) as middy6.MiddlewareObj[])
      .handler((reports ? idempotency.handler(handle) : handle) as never);
    const answers: unknown[] = [];
    for (let request = 0; request < 3; request++) {
      const answer = handler(v2Event({ headers }) as never, context()) as unknown as Promise<Answer>;
      answers.push(await answer.then(shown, (error: { code?: string }) => error.code));
    }
    return [runs, store.records.size, ...answers].join(", ");
  }

  it.each(REAL_NAMES)(
    "H49: every order that begins with the %s replays its first answer, or refuses at the first event",
    async (begins) => {
      const real = await realMiddlewares(major);
      const wrong: unknown[] = [];
      let count = 0;
      for (const stack of stacksWith(begins)) {
        const reports = count++ % 2 === 0;
        const thrown = count % 4 < 2 ? FINAL : BROKEN;
        const ends = [await play(stack, real, reports), await play(stack, real, reports, thrown)];
        const expected = [expectedOf(stack), expectedOf(stack, thrown)];
        if (ends.join() !== expected.join()) wrong.push({ stack, ends, expected });
      }

      expect(wrong.slice(0, 3)).toEqual([]);
      expect(count).toBeGreaterThanOrEqual(inAllPlaces ? 5040 * PLACES : Math.floor(5040 / STRIDE));
    },
    inAllPlaces ? 1_200_000 : 240_000,
  );
});

/** How often the handler ran, the number of records, the three answers. */
function expectedOf(stack: readonly Name[], thrown?: Error): string {
  // The body is an object already, whose bytes are lost: nothing runs, and the error handler makes a 500 of the refusal.
  if (isOutside(stack, "body parser")) return "0, 0, 500, 500, 500";
  if (thrown === FINAL) return "1, 1, 410, 410, 410";
  // The result is an object, but HTTP has text: it runs once, and every caller gets the error.
  const isMistaken = isOutside(stack, "serializer");
  const [first, again] = isMistaken
    ? [NOT_STORABLE, NOT_STORABLE]
    : [`201 {"order":${thrown ? 2 : 1}}`, `201 {"order":${thrown ? 2 : 1}} again`];
  return thrown ? `2, 1, 500, ${first}, ${again}` : `1, 1, ${first}, ${again}, ${again}`;
}

function shown({ statusCode, body, headers = {} }: Answer): string {
  if (body?.includes("RESPONSE_NOT_STORABLE")) return NOT_STORABLE;
  return `${statusCode}${statusCode === 201 ? ` ${body}` : ""}${headers["Idempotent-Replayed"] ? " again" : ""}`;
}
