/** Events without a form of their own: the result and the errors reach the caller as they are. */
import { checkOptions } from "../core/option-checks.ts";
import { type EngineOptions, resolveOptions } from "../core/options.ts";
import type { Face } from "./exchange.ts";
import { FACE_CHECKS, type IdempotencyOptions } from "./options.ts";
import { type Reading, readCall } from "./reading.ts";

export function plainFace<Event, Write>(options: IdempotencyOptions<Event, Write>): Face<Write> {
  checkOptions(options, FACE_CHECKS, ["key"]);
  const { key, scope, whenKeyMissing, ...engineOptions } = options;
  const reading = {
    options: resolveOptions(engineOptions as EngineOptions<Write>),
    key,
    scope: scope ?? "public",
    whenKeyMissing: whenKeyMissing ?? "reject",
  } as Reading<Write>;
  return {
    options: reading.options,
    begin: (event, context) => ({
      call: () => readCall(reading, event, context),
      answer: (outcome) => outcome.result,
      refuse: (error) => {
        throw error;
      },
    }),
  };
}
