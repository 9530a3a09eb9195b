/** Hands the execution from the middleware to the handler, by the request that both have. */
import { otherCopies, shared } from "../core/copies.ts";
import { InvalidOptionError } from "../core/errors.ts";
import type { Execution } from "../core/execution.ts";

const executions = shared("requests", () => new WeakMap<object, Execution>());

export function carry(request: object, execution: Execution): void {
  executions.set(request, execution);
}

export function carried(request: object): Execution | undefined {
  return executions.get(request);
}

/**
 * The attempt that a handler runs in: `key`, `attempt`, `signal`, `step`, `commit` and `childKey`. Give what the middleware got: the
 * request of Express or Fastify, the context of Hono.
 * @throws InvalidOptionError (`INVALID_OPTION`) for a request that has no record: its route has no middleware of onceonly, or
 * its method is not in `methods`.
 */
export function executionOf<Write = unknown>(request: object): Execution<Write> {
  const execution = executions.get(request);
  if (execution === undefined)
    throw new InvalidOptionError(
      "request",
      `must be one that onceonly has seen: use its middleware on this route, and name the method in \`methods\`${otherCopies("requests")}`,
      undefined,
    );
  return execution as Execution<Write>;
}
