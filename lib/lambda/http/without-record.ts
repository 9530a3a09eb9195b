/** The context for a request without a record. */
import { InvalidOptionError } from "../../core/errors.ts";
import type { Execution } from "../../core/execution.ts";
import { executionOf, type LambdaContext } from "../../core/lambda-context.ts";
import { type WithIdempotency, withExecution } from "../context.ts";

const MEMBERS: Readonly<Record<keyof Execution, 0>> = {
  key: 0,
  operation: 0,
  scope: 0,
  attempt: 0,
  traceparent: 0,
  signal: 0,
  commit: 0,
  step: 0,
  childKey: 0,
};

/**
 * Every use of the execution throws: with `undefined`, `idempotency?.commit(...)` would silently write nothing. Printing
 * the context doesn't call its getters. The attempt of an outer operation stays.
 */
export function withoutRecord<Write>(context: unknown): LambdaContext & WithIdempotency<Write> {
  if (executionOf(context) !== undefined) return context as LambdaContext & WithIdempotency<Write>;
  const execution = {};
  for (const name of Object.keys(MEMBERS))
    Object.defineProperty(execution, name, { get: () => refuse(name) });
  return withExecution(context, execution as Execution<Write>);
}

function refuse(name: string): never {
  throw new InvalidOptionError(
    "methods",
    `must include this request's method, and \`skip\` must not name it: it runs without a record, and has no \`context.idempotency.${name}\``,
  );
}
