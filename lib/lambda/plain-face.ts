/** Events without a form of their own: the result and the errors reach the caller as they are. */
import { perform } from "../core/engine.ts";
import { checkOptions } from "../core/option-checks.ts";
import { type EngineOptions, resolveOptions } from "../core/options.ts";
import { resultOf } from "../core/refusal.ts";
import type { Face } from "./face.ts";
import { FACE_CHECKS, type IdempotencyOptions } from "./options.ts";
import { type Reading, readCall } from "./reading.ts";

export function plainFace<Event, Write>(options: IdempotencyOptions<Event, Write>): Face<Write> {
  checkOptions(options, FACE_CHECKS, ["key"]);
  const { key, scope = "public", whenKeyMissing, ...given } = options;
  const engineOptions = resolveOptions(given as EngineOptions<Write>);
  const reading = { options: engineOptions, key, scope, whenKeyMissing } as Reading<Write>;
  return (event, context) => async (work) => {
    const call = readCall(reading, event, context);
    return resultOf(await perform(engineOptions, call, work));
  };
}
