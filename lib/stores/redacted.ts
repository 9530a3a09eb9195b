/** A store that receives only a part of each result. */
import { errorNameOf } from "../core/ask-verify.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { checkOptions } from "../core/option-checks.ts";
import { ENGINE_CHECKS } from "../core/options.ts";
import { decodeResult, encodeResult, NOT_KEPT } from "../core/outcome.ts";
import type { Insertion, Settlement, Store } from "../core/store.ts";
import { ResultStore } from "./result-store.ts";

/** Receives a result, and returns the part to store. `"all"`: nothing is stored. */
export type Redact = "all" | ((result: never) => unknown);

/**
 * The same store, for results that contain secrets. Replays return the part that `redact` returns; the call that runs gets the
 * whole result. With `"all"`, replays throw `ResultNotKeptError` (HTTP 410): nothing runs again, and the caller has to read the
 * state elsewhere. Over HTTP the result is the response, with `statusCode`, `headers` and `body`.
 *
 * If `redact` throws, or returns something that isn't JSON, nothing of the result is stored, and the process warns with the code
 * `ONCEONLY_REDACT`. Verdicts with a result are redacted too. Errors, step results and waiting messages are stored whole.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function redacted<Write>(store: Store<Write>, redact: Redact): Store<Write> {
  checkOptions({ store }, { store: ENGINE_CHECKS.store }, ["store"]);
  if (redact !== "all" && typeof redact !== "function")
    throw new InvalidOptionError("redact", 'must be "all" or a function', redact);
  return new RedactedStore(store, redact);
}

class RedactedStore<Write> extends ResultStore<Write> {
  readonly #redact: Redact;

  constructor(store: Store<Write>, redact: Redact) {
    super(store, { redactsResults: true });
    this.#redact = redact;
  }

  inFrontOf(change: (store: Store<Write>) => Store<Write>): Store<Write> {
    return new RedactedStore(change(this.store), this.#redact);
  }

  protected override async storedText({
    state,
    result,
  }: Settlement<Write> | Insertion<Write>): Promise<string | undefined> {
    return result === undefined || state !== "completed" ? result : redactedText(result, this.#redact);
  }
}

/** Never throws: the operation must be recorded as done even if its result can't be. */
function redactedText(text: string, redact: Redact): string | undefined {
  if (redact === "all") return NOT_KEPT;
  try {
    return encodeResult(redact(decodeResult(text) as never));
  } catch (error) {
    process.emitWarning(
      `\`redact\` failed with ${errorNameOf(error)}: the result of an operation isn't kept`,
      {
        code: "ONCEONLY_REDACT",
      },
    );
    return NOT_KEPT;
  }
}
