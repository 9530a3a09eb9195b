/** Passes the execution from the middleware to the handler, keyed by the request that both have. */
import { otherCopies, SHAPE, shared } from "../core/copies.ts";
import { InvalidOptionError } from "../core/errors.ts";
import type { Execution } from "../core/execution.ts";
import { Beside } from "./beside.ts";

const executions = new Beside<Execution>(
  Symbol.for(`onceonly.requests.${SHAPE}`),
  shared("requests", () => new WeakMap<object, Execution>()),
);

export function carry(request: object, execution: Execution): void {
  executions.set(request, execution);
}

export function carried(request: object): Execution | undefined {
  return executions.get(request);
}

/**
 * Returns the attempt that a handler runs in: `key`, `attempt`, `signal`, `step`, `commit` and `childKey`. Pass the same
 * object that the middleware got: the Express or Fastify request, or the Hono context.
 * @throws InvalidOptionError (`INVALID_OPTION`) for a request without a record: its route has no onceonly middleware, or
 * its method isn't in `methods`.
 */
export function executionOf<Write = unknown>(request: object): Execution<Write> {
  const execution = Object(request) === request ? executions.get(request) : undefined;
  if (execution === undefined) throw notPassed("the onceonly middleware", otherCopies("requests"));
  return execution as Execution<Write>;
}

/** The part that every adapter returns next to its middleware: a function from a request to its handler's attempt. */
export interface WithExecutionOf<Request, Write> {
  /**
   * Returns the attempt that this request's handler runs in: `key`, `attempt`, `signal`, `step`, `commit` and `childKey`.
   * `commit` accepts writes for the store in the options. With two middlewares, each has its own attempt.
   * @throws InvalidOptionError (`INVALID_OPTION`) for a request that this middleware hasn't seen, or whose method isn't
   * in `methods`.
   */
  executionOf(this: void, request: Request): Execution<Write>;
}

/** One middleware's executions, by request. */
export class Executions<Write> {
  readonly #executions = new Beside<Execution<Write>>(Symbol("onceonly.execution"));

  add(request: object, execution: Execution<Write>): void {
    this.#executions.set(request, execution);
  }

  readonly of = (request: object): Execution<Write> => {
    const execution = Object(request) === request ? this.#executions.get(request) : undefined;
    if (execution === undefined) throw notPassed("this middleware", "");
    return execution;
  };
}

function notPassed(middleware: string, more: string): InvalidOptionError {
  return new InvalidOptionError(
    "request",
    `must be a request that went through ${middleware}: use the middleware on this route, and list the method in \`methods\`${more}`,
  );
}
