/** The protocol around work that begins and ends elsewhere, such as between two hooks of a middleware. */
import type { Attempt } from "../../core/execution.ts";
import type { Run } from "../face.ts";

/** Work that may go on. The first end counts; then the answer comes. */
export interface OpenWork<Write> {
  readonly attempt: Attempt<Write>;
  readonly finish: (value: unknown) => void;
  readonly fail: (error: unknown) => void;
  readonly answer: Promise<unknown>;
}

/** Resolves when the work may begin, or at once with somebody else's answer. */
export function beginWork<Write>(run: Run<Write>): Promise<OpenWork<Write> | { readonly early: unknown }> {
  return new Promise((resolve, reject) => {
    const answer = run(
      (attempt) => new Promise((finish, fail) => resolve({ attempt, finish, fail, answer })),
    );
    answer.then((early) => resolve({ early }), reject);
  });
}
