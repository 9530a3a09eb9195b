/** The protocol around work that begins and ends elsewhere, such as between two hooks of a middleware. */
import { perform } from "../core/engine.ts";
import type { Execution } from "../core/execution.ts";
import type { Call } from "../core/operation.ts";
import type { ResolvedOptions } from "../core/options.ts";
import type { Outcome } from "../core/refusal.ts";

/** Work that may go on. One of both ends it, once, and answers as the engine does. */
export interface OpenWork<Write> {
  readonly execution: Execution<Write>;
  readonly finish: (value: unknown) => Promise<Outcome>;
  readonly fail: (error: unknown) => Promise<Outcome>;
}

/** Resolves when the work may begin, or at once with the answer of somebody else's. */
export function beginWork<Write>(
  options: ResolvedOptions<Write>,
  call: Call,
): Promise<OpenWork<Write> | { readonly outcome: Outcome }> {
  return new Promise((resolve, reject) => {
    const outcome = perform(
      options,
      call,
      (execution) =>
        new Promise((finish, fail) => {
          const endBy = (end: (how: unknown) => void) => (how: unknown) => {
            end(how);
            return outcome;
          };
          resolve({ execution, finish: endBy(finish), fail: endBy(fail) });
        }),
    );
    outcome.then((answer) => resolve({ outcome: answer }), reject);
  });
}
