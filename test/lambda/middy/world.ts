// The stack of a row, on any store: what its hooks and its handler do, they do at the first call only.
import type middy6 from "@middy/core";
import { type IdempotencyOptions, idempotency } from "onceonly";
import { given, pausePoint } from "../given.ts";
import { type HookRow, isStored } from "./cases/hook-row.ts";
import type { TimeoutRow } from "./cases/timeout-rows.ts";

const EVENT = { key: "k1" };
const key = (event: typeof EVENT) => event.key;
type Options<Write> = Omit<IdempotencyOptions<typeof EVENT, Write>, "key">;

const look = ({ event, context, response, error, earlyResponse }: middy6.Request) => {
  void [event, context, response, error, earlyResponse];
};
/** Destructuring is the usual style: what is read must not count. */
export const READER: middy6.MiddlewareObj = { before: look, after: look, onError: look };

export interface StackKind {
  readonly reports: boolean;
  readonly readers: readonly middy6.MiddlewareObj[];
}

export function stackOf<Write>(
  middy: typeof middy6,
  row: HookRow,
  options: Options<Write>,
  { reports, readers }: StackKind,
) {
  const { context } = given();
  let calls = 0;
  let runs = 0;
  const isFirst = () => calls === 1;
  const once = idempotency({ ...options, key, shouldStore: isStored });
  const handle = async () => {
    runs++;
    return isFirst() && row.handle ? row.handle() : "done";
  };
  const handler = middy()
    .use([READER, ...onlyIf(isFirst, row.outer)])
    .use(once)
    .use([...readers, ...onlyIf(isFirst, row.inner), ...readers])
    .handler((reports ? once.handler(handle) : handle) as never) as (
    event: object,
    context: object,
  ) => unknown;
  const call = async () => {
    calls++;
    try {
      return await handler(EVENT, context());
    } catch (error) {
      return (error as Error).message;
    }
  };
  return { call, runs: () => runs };
}

/** Middy times out early at the first call; the handler is held until `goOn`. */
export function timeoutStackOf<Write>(
  middy: typeof middy6,
  { reports, answer }: TimeoutRow,
  options: Options<Write>,
  readers: readonly middy6.MiddlewareObj[] = [],
) {
  const { context } = given();
  const held = pausePoint();
  let runs = 0;
  const once = idempotency({ ...options, key });
  const handle = async () => {
    if (++runs > 1) return "second";
    await held.pause();
    return "late";
  };
  // This leaves 10 ms of the 30 s that the context gives, because Middy's own timer is a real one.
  const handler = middy({ timeoutEarlyInMillis: 29_990, timeoutEarlyResponse: answer as () => void })
    .use(once)
    .use([...readers])
    .handler(reports ? once.handler(handle) : handle);
  const call = () => handler(EVENT, context() as never).catch((error: Error) => error.message);
  return { call, goOn: held.resume };
}

function onlyIf(isOn: () => boolean, middleware: HookRow["outer"]): middy6.MiddlewareObj[] {
  if (!middleware) return [];
  const hooks = Object.entries(middleware).map(([name, hook]) => [
    name,
    (request: middy6.Request) =>
      isOn() ? (hook as (request: middy6.Request) => unknown)(request) : undefined,
  ]);
  return [Object.fromEntries(hooks) as middy6.MiddlewareObj];
}
