/** The engine as a decorator of methods, in the standard form and in that of `experimentalDecorators`. */
import { perform } from "./engine.ts";
import { InvalidOptionError, ScopeMissingError } from "./errors.ts";
import { fingerprintsOf } from "./fingerprint.ts";
import { identify, PUBLIC_SCOPE } from "./identity.ts";
import { kindOf } from "./kind-of.ts";
import { aFunction, checkOptions } from "./option-checks.ts";
import type { EngineOptions } from "./options.ts";
import { resultOf } from "./outcome.ts";
import { resolveOptions } from "./resolved-options.ts";

export interface OnceOptions<Args extends readonly unknown[], Write = unknown>
  extends Omit<EngineOptions<Write>, "fingerprint"> {
  /** Returns the idempotency key, from the arguments of the call. */
  readonly key: (...args: Args) => string;
  /**
   * Returns the verified owner of the key, from the arguments of the call.
   * @default - the operation is public
   */
  readonly scope?: (...args: Args) => string | undefined;
  /**
   * Returns the part of the arguments that decides whether two calls carry the same request. Trailing `undefined` arguments are
   * left out.
   * @default - all arguments: they must be JSON
   */
  readonly fingerprint?: (args: Args) => unknown;
}

/** The decorator that `once` returns. TypeScript picks the signature that fits `experimentalDecorators`. */
export interface OnceDecorator<Args extends readonly unknown[]> {
  /** The standard form. */
  <This, Result>(
    method: (this: This, ...args: Args) => Promise<Result>,
    context: ClassMethodDecoratorContext,
  ): (this: This, ...args: Args) => Promise<Result>;
  /** The form of `experimentalDecorators`. */
  <Method extends (...args: Args) => Promise<unknown>>(
    target: object,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<Method>,
  ): TypedPropertyDescriptor<Method>;
}

type Method = (this: unknown, ...args: readonly unknown[]) => unknown;

/**
 * A decorator that runs the method once per operation, scope and key, and returns the same result to every call. It works as a
 * standard decorator and with `experimentalDecorators`, also on static, private and inherited methods.
 *
 * The method receives an `Execution` as its last declared parameter, or after its arguments if a call passes a value for that
 * one. So declare a parameter for it after optional ones: `charge(order: Order, note?: string, own?: Execution)`.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`) when the class is defined, also if the decorator is on anything but a method.
 * Calls reject with the errors of `runOnce`, and with ScopeMissingError (`SCOPE_MISSING`) if `scope` returns nothing.
 */
export function once<Args extends readonly unknown[], Write = unknown>(
  options: OnceOptions<Args, Write>,
): OnceDecorator<Args> {
  checkOptions({ key: options?.key, scope: options?.scope }, { key: aFunction, scope: aFunction }, ["key"]);
  const { key, scope, ...given } = options;
  const engineOptions = resolveOptions<Write>(given as EngineOptions<Write>);
  const { operation, keyPattern, fingerprints } = engineOptions;

  function wrap(method: Method): Method {
    async function idempotentMethod(this: unknown, ...args: readonly unknown[]): Promise<unknown> {
      const owner = scope ? scope(...(args as Args)) : PUBLIC_SCOPE;
      if (scope && !owner) throw new ScopeMissingError("`scope` returned no verified caller");
      const payload = args.slice(0, args.findLastIndex((arg) => arg !== undefined) + 1);
      const call = {
        identity: identify(operation, owner as string, key(...(args as Args)), keyPattern),
        fingerprints: fingerprintsOf(fingerprints, payload),
        payload,
      };
      const run = (own: unknown) => method.apply(this, withOwn(args, own, method.length));
      return resultOf(await perform(engineOptions, call, run));
    }
    return inPlaceOf(method, idempotentMethod);
  }

  return function onceDecorator(...given: readonly unknown[]) {
    const [value, context, descriptor] = given;
    const kind = given.length === 2 ? kindOfStandard(context) : undefined;
    if (kind === "method") return wrap(value as Method);
    const method = kind === undefined && given.length === 3 ? methodIn(descriptor) : undefined;
    if (method === undefined) throw notOnMethod(kind ?? kindOfLegacy(given));
    return { ...(descriptor as PropertyDescriptor), value: wrap(method) };
  } as OnceDecorator<Args>;
}

/** The last declared parameter is for the execution, unless the call passes a value for it. */
function withOwn(args: readonly unknown[], own: unknown, declared: number): unknown[] {
  const last = declared - 1;
  if (declared === 0 || args.length > declared || args[last] !== undefined) return [...args, own];
  const all = [...args];
  all.length = last;
  return [...all, own];
}

interface Metadata {
  getOwnMetadataKeys(target: object): readonly unknown[];
  getOwnMetadata(key: unknown, target: object): unknown;
  defineMetadata(key: unknown, value: unknown, target: object): void;
}

/** Frameworks read name and length, and metadata that decorators below this one put on the method. */
function inPlaceOf(method: Method, wrapper: Method): Method {
  const {
    prototype,
    arguments: _arguments,
    caller,
    ...own
  } = Object.getOwnPropertyDescriptors(method) as Record<string, PropertyDescriptor>;
  Object.defineProperties(wrapper, own);
  // From the package reflect-metadata, if the program has loaded it.
  if (!("getOwnMetadataKeys" in Reflect)) return wrapper;
  const metadata = Reflect as unknown as Metadata;
  for (const key of metadata.getOwnMetadataKeys(method))
    metadata.defineMetadata(key, metadata.getOwnMetadata(key, method), wrapper);
  return wrapper;
}

/** Legacy class decorators get one argument; legacy parameter decorators get a number as the third. */
function kindOfStandard(context: unknown): unknown {
  return typeof context === "object" && context !== null ? (context as { kind?: unknown }).kind : undefined;
}

function methodIn(descriptor: unknown): Method | undefined {
  const { value, initializer } = Object(descriptor) as { value?: unknown; initializer?: unknown };
  return typeof value === "function" && initializer === undefined ? (value as Method) : undefined;
}

function kindOfLegacy([target, name, descriptor]: readonly unknown[]): string {
  if (typeof descriptor === "number") return "parameter";
  if (name !== undefined) return Object(descriptor).get || Object(descriptor).set ? "accessor" : "field";
  return typeof target === "function" ? "class or function" : kindOf(target);
}

function notOnMethod(kind: unknown): InvalidOptionError {
  return new InvalidOptionError(
    "method",
    `must be a method of a class, but \`@once\` is on a ${kind}: put \`@once\` directly above a method, or use \`runOnce\` for a function`,
  );
}
