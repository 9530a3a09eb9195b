// Every position of a hook, in stacks whose other hooks read the whole request, with handlers that tell and that do not.
import type middy6 from "@middy/core";
import { idempotency } from "onceonly";
import { describe, expect, it } from "vitest";
import { given, pausePoint } from "./given.ts";
import { HOOK_ROWS, type HookRow, isStored, TIMEOUT_ROWS } from "./hook-rows.ts";
import { describeOnMiddies } from "./middies.ts";

const EVENT = { key: "k1" };
const key = (event: typeof EVENT) => event.key;

const look = ({ event, context, response, error, earlyResponse }: middy6.Request) => {
  void [event, context, response, error, earlyResponse];
};
/** Destructuring is the usual style: what is read must not count. */
const reader: middy6.MiddlewareObj = { before: look, after: look, onError: look };

const KINDS = [
  ["a handler", false, []],
  ["a handler, among hooks that read everything", false, [reader]],
  ["a handler that tells", true, []],
  ["a handler that tells, among hooks that read everything", true, [reader]],
] as const;

describeOnMiddies("idempotency", (middy) => {
  describe.each(KINDS)("around %s", (_, tells, readers) => {
    it.each(HOOK_ROWS)("H49: $where: $what", async (row) => {
      const { options, clock, context, states, decisions } = given();
      let calls = 0;
      let runs = 0;
      const unlessFirst = (middleware: HookRow["outer"]) => onFirstCall(middleware, () => calls === 1);
      const middleware = idempotency({ ...options, key, shouldStore: isStored });
      const handle = async () => {
        runs++;
        return calls === 1 && row.handle ? row.handle() : "done";
      };
      const handler = middy()
        .use([reader, ...unlessFirst(row.outer)])
        .use(middleware)
        .use([...readers, ...unlessFirst(row.inner), ...readers])
        .handler(tells ? middleware.handler(handle) : handle);
      const call = () => {
        calls++;
        return handler(EVENT, context()).catch((error: Error) => error.message);
      };

      const first = await call();
      if (row.unawaited === "always" || (row.unawaited && !tells)) await clock.advance(0);
      const told = decisions();
      const state = states()[0] ?? "none";
      const runsFirst = runs;
      const retry = await call();
      const runsAgain = runs;
      await clock.advance(36_000);
      const last = await call();

      expect({ state, told, answers: [first, retry], runs: [runsFirst, runsAgain, runs] }).toEqual({
        state: row.state,
        told: row.told,
        answers: row.answers,
        runs: row.runs,
      });
      expect(last).toEqual(retry);
    });
  });
});

const TIMEOUTS = TIMEOUT_ROWS.flatMap((row) =>
  [[], [reader]].map((readers) => ({ ...row, readers, among: readers.length > 0 ? ", among readers" : "" })),
);

describeOnMiddies("idempotency", (middy) => {
  it.each(TIMEOUTS)("H42: $where with $what$among", async ({ tells, answer, readers, ...row }) => {
    const { options, clock, context, states, decisions } = given();
    const held = pausePoint();
    let runs = 0;
    const once = idempotency({ ...options, key });
    const handle = async () => {
      if (++runs > 1) return "second";
      await held.pause();
      return "late";
    };
    const handler = middy({ timeoutEarlyInMillis: 29_990, timeoutEarlyResponse: answer as () => void })
      .use(once)
      .use(readers)
      .handler(tells ? once.handler(handle) : handle);
    const call = () => handler(EVENT, context()).catch((error: Error) => error.message);

    const first = await call();
    const end = { state: states()[0], told: decisions() };
    const retry = await call();
    held.resume();
    await clock.advance(row.state === "in-progress" && !tells ? 36_000 : 0);
    const last = await call();

    expect({ ...end, answers: [first, last] }).toEqual({
      state: row.state,
      told: row.told,
      answers: row.answers,
    });
    if (row.state === "in-progress") expect(retry).toContain("in progress");
  });
});

function onFirstCall(middleware: HookRow["outer"], isFirst: () => boolean): middy6.MiddlewareObj[] {
  if (!middleware) return [];
  const hooks = Object.entries(middleware).map(([name, hook]) => [
    name,
    (request: middy6.Request) =>
      isFirst() ? (hook as (request: middy6.Request) => unknown)(request) : undefined,
  ]);
  return [Object.fromEntries(hooks) as middy6.MiddlewareObj];
}
