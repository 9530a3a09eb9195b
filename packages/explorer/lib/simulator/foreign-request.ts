/** Requests to a system that the simulation does not have, such as a real database: points like all others. */
import type { Exchange } from "./exchange.ts";
import { beginThreadWork } from "./real-work.ts";
import { currentScene, within } from "./scene.ts";

export interface ForeignRequest<Answer> {
  /** Names the system, and what is asked of it: `postgres orders`. */
  readonly target: string;
  /** Such as `INSERT`. What is called `GET` or begins with `Select` counts as a read, which has no effect. */
  readonly operation: string;
  /** What is asked, for traces and for faults: the same for a repetition. @default - nothing */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Makes the request, with real time and real connections. A rejection is an answer too. */
  run(): Promise<Answer>;
  /** What the client throws where its connection breaks. */
  broken(): Error;
}

/**
 * Makes a request to a system that is outside of the simulation. On a host of a simulation it is numbered, may have each fault
 * that a request may have, and stands in the trace. Virtual time stands still until the answer is there. Elsewhere it is only made.
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
 * Calls `close` when the environment that runs now ends by a crash or a timeout, as its connections close then. The returned
 * function forgets it. Elsewhere nothing ends.
 */
export function whenEnvironmentEnds(close: () => void): () => void {
  return currentScene()?.onEnd(() => within(undefined, close)) ?? (() => {});
}
