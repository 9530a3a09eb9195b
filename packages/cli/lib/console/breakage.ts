/** What the page's buttons do to a local run: they send an event again, kill a function, lose an answer, or stop a destination. */
import type { Disturbances, RunningStack } from "onceonly-local";
import { UsageError } from "../command.ts";
import type { Act } from "./console-source.ts";
import type { ActAnswer, BreakageLook } from "./look.ts";

export interface Breakage {
  readonly disturbances: Disturbances;
  look(stack: RunningStack): BreakageLook;
  /** `undefined` for an act that belongs to another source. @throws UsageError */
  act(stack: RunningStack, act: Act): Promise<ActAnswer> | ActAnswer | undefined;
}

const WRITES = /^(PutItem|UpdateItem|DeleteItem|TransactWriteItems|BatchWriteItem)$/;

export function createBreakage(): Breakage {
  const lastEvents = new Map<string, string>();
  const down = new Set<string>();
  let losesNext = false;
  let kills: (() => boolean) | undefined;
  let toBeKilled: string | undefined;

  function kill(stack: RunningStack, path: string): ActAnswer {
    const { host } = chosen(stack.functions, path, "function");
    if (host.kill() !== undefined)
      return { done: true, message: `${path} was killed in the middle of an invocation.` };
    toBeKilled = path;
    kills = () => host.kill() !== undefined;
    return { done: true, message: `${path} is idle: it will be killed after its next write.` };
  }

  async function duplicate(stack: RunningStack, path: string): Promise<ActAnswer> {
    const event = lastEvents.get(path);
    const { host } = chosen(stack.functions, path, "function");
    if (event === undefined) return { done: false, message: `${path} hasn't been invoked yet.` };
    const { outcome } = await host.invoke(event);
    return { done: true, message: `Delivered the last event of ${path} again. It ended: ${outcome}.` };
  }

  function turn(stack: RunningStack, path: string): ActAnswer {
    const address = chosen(destinationsOf(stack), path, "queue, topic or event bus");
    const isDown = down.delete(address);
    if (!isDown) down.add(address);
    return {
      done: true,
      message: isDown ? `${path} accepts messages again.` : `${path} now refuses messages.`,
    };
  }

  return {
    disturbances: {
      invoked: (path, payload) => void lastEvents.set(path, payload),
      decide({ operation }) {
        if (!losesNext || !WRITES.test(operation)) return "pass";
        losesNext = false;
        return "lose-answer";
      },
      answered({ operation }) {
        if (!WRITES.test(operation) || !kills?.()) return;
        [kills, toBeKilled] = [undefined, undefined];
      },
      isDown: (destination) => down.has(destination),
    },
    look: (stack) => ({
      losesNext,
      functions: Object.keys(stack.functions).map((path) => ({
        path,
        hasEvent: lastEvents.has(path),
        isToBeKilled: path === toBeKilled,
      })),
      destinations: Object.entries(destinationsOf(stack)).map(([path, address]) => ({
        path,
        isDown: down.has(address),
      })),
    }),
    act(stack, { act, path }) {
      if (act === "kill") return kill(stack, `${path}`);
      if (act === "duplicate") return duplicate(stack, `${path}`);
      if (act === "turn") return turn(stack, `${path}`);
      if (act !== "lose") return undefined;
      losesNext = true;
      return { done: true, message: "DynamoDB will apply the next write, but its response will be lost." };
    },
  };
}

/** What messages are sent to, by construct path. */
const destinationsOf = ({ queues, topics, buses }: RunningStack): Readonly<Record<string, string>> => ({
  ...Object.fromEntries(Object.entries(queues).map(([path, { url }]) => [path, url])),
  ...Object.fromEntries(Object.entries({ ...topics, ...buses }).map(([path, { arn }]) => [path, arn])),
});

function chosen<T>(all: Readonly<Record<string, T>>, path: string, what: string): T {
  if (Object.hasOwn(all, path)) return all[path]!;
  throw new UsageError(`no such ${what}`);
}
