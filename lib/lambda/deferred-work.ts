/** The protocol around work that begins and ends elsewhere, such as between two hooks of a middleware. */
import type { Execution } from "../core/execution.ts";
import type { Identity } from "../core/identity.ts";
import type { Run } from "./face.ts";

/** Work that may go on. One of both ends it, once; then the answer comes. */
export interface OpenWork<Write> {
  readonly execution: Execution<Write>;
  readonly identity: Identity;
  readonly finish: (value: unknown) => void;
  readonly fail: (error: unknown) => void;
  readonly answer: Promise<unknown>;
}

/** Resolves when the work may begin, or at once with somebody else's answer. */
export function beginWork<Write>(run: Run<Write>): Promise<OpenWork<Write> | { readonly early: unknown }> {
  return new Promise((resolve, reject) => {
    const answer = run(
      (execution, identity) =>
        new Promise((finish, fail) => resolve({ execution, identity, finish, fail, answer })),
    );
    answer.then((early) => resolve({ early }), reject);
  });
}
