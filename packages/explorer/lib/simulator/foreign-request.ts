/** Requests to a system outside the simulation, such as a real database: each is a point like any other. */
import type { Exchange } from "./exchange.ts";
import { beginThreadWork } from "./real-work.ts";
import { currentScene, within } from "./scene.ts";

export interface ForeignRequest<Answer> {
  /** The system and the object of the request: `postgres orders`. */
  readonly target: string;
  /** Such as `INSERT`. `GET`, and any name that begins with `Select`, counts as a read, which has no effect. */
  readonly operation: string;
  /** The request's content, for traces and for faults: the same when it is repeated. @default - nothing */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Makes the request, with real time and real connections. A rejection counts as a response too. */
  run(): Promise<Answer>;
  /** The error that the client throws when its connection breaks. */
  broken(): Error;
}

/**
 * Makes a request to a system outside the simulation. On a simulated host it is numbered, may have any fault
 * that a request may have, and appears in the trace. Virtual time stands still until the response arrives. Anywhere else the request is just made.
 */
export function foreignRequest<Answer>(request: ForeignRequest<Answer>): Promise<Answer> {
  const { target, operation, input = {}, broken } = request;
  const exchange: Exchange<Answer> = {
    io: { service: "foreign", operation, target, input, attempt: undefined },
    run: async () => {
      const end = beginThreadWork();
      try {
        return await within(undefined, () => request.run());
      } finally {
        end();
      }
    },
    broken,
    throttled: async () => {
      throw broken();
    },
    refused: async ({ code }) => {
      throw Object.assign(new Error(`rejected: ${code}`), { code });
    },
    describe: () => "ok",
  };
  return currentScene()?.ask(exchange) ?? request.run();
}

/**
 * Calls `close` when the current environment ends by a crash or a timeout, because its connections close then. The returned
 * function cancels that. Outside a simulated environment, `close` is never called.
 */
export function whenEnvironmentEnds(close: () => void): () => void {
  return currentScene()?.onEnd(() => within(undefined, close)) ?? (() => {});
}
