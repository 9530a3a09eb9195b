/** The client's options with their defaults and checks. Pure. */
import { InvalidOptionError } from "./errors.ts";

/** How an operation is retried. Every field is optional. */
export interface IdempotentFetchOptions {
  /**
   * Gives up this many seconds after the first try. No try starts later, a running try is cut off, and a wait that would
   * end later isn't started. More than 0, at most 86 400.
   * @default 120
   */
  readonly deadlineSeconds?: number | undefined;
  /**
   * Cuts off a try without a whole response after this many seconds, and tries again with the same key. The default
   * outlasts the 30 seconds that an API Gateway HTTP API waits. More than 0, at most 86 400.
   * @default 35
   */
  readonly tryTimeoutSeconds?: number | undefined;
  /**
   * Upper bound of the random wait after the first failure; it doubles with every further failure. More than
   * 0, at most 86 400.
   * @default 0.5
   */
  readonly firstDelaySeconds?: number | undefined;
  /**
   * The bound at which the doubling stops. Does not shorten a server's `Retry-After`. More than 0, at most 86
   * 400.
   * @default 20
   */
  readonly maxDelaySeconds?: number | undefined;
  /**
   * Called as `fetch(request, init)` for each try. `init` contains everything; pass on `init.headers`, `init.body` and
   * `init.signal`.
   * @default globalThis.fetch
   */
  readonly fetch?: ((input: Request, init: RequestInit) => Promise<Response>) | undefined;
}

/** The `fetch` options, the retry options, and the key of this operation. */
export interface IdempotentFetchInit extends RequestInit, IdempotentFetchOptions {
  /**
   * The idempotency key: 1 to 255 printable ASCII characters. Pass one to continue an earlier operation, or to use a
   * business key such as an order number.
   * @default a new UUIDv7
   */
  readonly key?: string | undefined;
  /**
   * Called with the key, generated or given, and awaited before the first try. Store the key here, so that you can
   * continue with it after a page reload or a crash. If `onKey` throws, nothing is sent and its error is thrown.
   */
  readonly onKey?: ((key: string) => void | Promise<void>) | undefined;
}

/** The options with every default filled in. */
export interface RetrySettings {
  readonly deadlineSeconds: number;
  readonly tryTimeoutSeconds: number;
  readonly firstDelaySeconds: number;
  readonly maxDelaySeconds: number;
  readonly fetch?: IdempotentFetchOptions["fetch"];
}

export const DEFAULTS: RetrySettings = {
  deadlineSeconds: 120,
  tryTimeoutSeconds: 35,
  firstDelaySeconds: 0.5,
  maxDelaySeconds: 20,
};

const MAX_SECONDS = 86_400;
const SHARED_NAMES = [...Object.keys(DEFAULTS), "fetch"];
const FETCH_NAMES = `body cache credentials dispatcher duplex headers integrity keepalive method mode
  priority redirect referrer referrerPolicy signal window`.split(/\s+/);

/**
 * Checks `given` and merges it over `below`; an explicit `undefined` keeps the value from `below`.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function resolveOptions(given: IdempotentFetchOptions, below: RetrySettings): RetrySettings {
  checkNames("options", given, SHARED_NAMES);
  const settings: Record<string, unknown> = { ...below };
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    if (name === "fetch") checkFunction(name, value);
    else if (!(typeof value === "number" && value > 0 && value <= MAX_SECONDS)) {
      throw invalid(name, `must be a number of seconds greater than 0 and at most ${MAX_SECONDS}`, value);
    }
    settings[name] = value;
  }
  return settings as unknown as RetrySettings;
}

export interface FetchCall {
  readonly key: string | undefined;
  readonly onKey: IdempotentFetchInit["onKey"];
  readonly settings: RetrySettings;
  /** The part that belongs to `fetch` itself. */
  readonly fetchInit: RequestInit;
}

/** @throws InvalidOptionError (`INVALID_OPTION`) */
export function readCall(init: IdempotentFetchInit, shared: RetrySettings): FetchCall {
  checkNames("init", init, [...SHARED_NAMES, "key", "onKey", ...FETCH_NAMES]);
  const { key, onKey, ...rest } = init;
  checkFunction("onKey", onKey);
  if (init.mode === "no-cors") {
    throw invalid(
      "mode",
      'must not be "no-cors", because that would drop the Idempotency-Key header and hide the response',
    );
  }
  const part = (names: readonly string[]) =>
    Object.fromEntries(Object.entries(rest).filter(([name]) => names.includes(name)));
  return { key, onKey, settings: resolveOptions(part(SHARED_NAMES), shared), fetchInit: part(FETCH_NAMES) };
}

function checkNames(what: string, given: object, known: readonly string[]): void {
  // A Request passed as init has its fields on its prototype, so they would be ignored silently.
  if (Object.prototype.toString.call(given) !== "[object Object]") {
    throw invalid(what, "must be a plain object", given);
  }
  for (const name of Object.keys(given)) {
    if (!known.includes(name)) throw invalid(name, `isn't an option (valid options: ${known.join(", ")})`);
  }
}

function checkFunction(name: string, value: unknown): void {
  if (value !== undefined && typeof value !== "function") throw invalid(name, "must be a function", value);
}

/** Without a third argument the message omits the value: an unknown option may hold anything. */
function invalid(option: string, rule: string, ...got: readonly [value?: unknown]): InvalidOptionError {
  return new InvalidOptionError(option, rule, got.length > 0 ? kindOf(got[0]) : undefined);
}

/** A wrong value may be a secret in the wrong place: the message names only the kind of strings and objects. */
export function kindOf(value: unknown): string {
  if (typeof value === "string")
    return `a string of ${value.length} character${value.length === 1 ? "" : "s"}`;
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object";
  return /^(function|symbol|bigint)$/.test(typeof value) ? `a ${typeof value}` : `${value}`;
}
