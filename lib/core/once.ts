/** The engine as a standard decorator of methods. */
import { perform } from "./engine.ts";
import { ScopeMissingError } from "./errors.ts";
import { fingerprintsOf } from "./fingerprint.ts";
import { identify, PUBLIC_SCOPE } from "./identity.ts";
import { aFunction, checkOptions } from "./option-checks.ts";
import { type EngineOptions, resolveOptions } from "./options.ts";
import { resultOf } from "./outcome.ts";

export interface OnceOptions<Args extends readonly unknown[], Write = unknown>
  extends Omit<EngineOptions<Write>, "fingerprint"> {
  /** The idempotency key, from the arguments of the call. */
  readonly key: (...args: Args) => string;
  /**
   * The verified owner of the key, from the arguments of the call.
   * @default - the operation belongs to nobody
   */
  readonly scope?: (...args: Args) => string | undefined;
  /**
   * Returns the part of the arguments that tells two calls apart.
   * @default - all arguments: they must be JSON
   */
  readonly fingerprint?: (args: Args) => unknown;
}

/**
 * A standard decorator: a call of the method runs once per operation, scope and key, and each call gets the same result. The
 * method gets an `Execution` behind its arguments: give all of them where it takes that too. Experimental decorators of
 * TypeScript are of another kind: leave `experimentalDecorators` out.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) where the class is defined; calls reject as those of `runOnce`, and with
 * ScopeMissingError (`SCOPE_MISSING`) where `scope` yields nothing.
 */
export function once<Args extends readonly unknown[], Write = unknown>(options: OnceOptions<Args, Write>) {
  checkOptions({ key: options?.key, scope: options?.scope }, { key: aFunction, scope: aFunction }, ["key"]);
  const { key, scope, ...given } = options;
  const engineOptions = resolveOptions<Write>(given as EngineOptions<Write>);
  const { operation, keyPattern, fingerprints } = engineOptions;
  return <This, Result>(
    method: (this: This, ...args: Args) => Promise<Result>,
    _context: ClassMethodDecoratorContext,
  ) =>
    async function idempotentMethod(this: This, ...args: Args): Promise<Result> {
      const owner = scope ? scope(...args) : PUBLIC_SCOPE;
      if (scope && !owner) throw new ScopeMissingError("`scope` yielded no verified caller");
      const call = {
        identity: identify(operation, owner as string, key(...args), keyPattern),
        fingerprints: fingerprintsOf(fingerprints, args),
        payload: args,
      };
      const run = method as (this: This, ...args: readonly unknown[]) => Promise<Result>;
      return resultOf(await perform(engineOptions, call, (own) => run.call(this, ...args, own))) as Result;
    };
}
