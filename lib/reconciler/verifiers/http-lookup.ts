/** Asks a provider over HTTP whether the effect happened, using the idempotency key that the handler passed on. */
import { aFunction, type Check, checkOptions, seconds } from "../../core/option-checks.ts";
import type { AbandonedAttempt, AbandonedRecord, Verify } from "../../core/verify.ts";
import { absent, DAY_SECONDS, LAGS_SECONDS, remembers } from "./absence.ts";

export interface HttpLookupOptions<
  Input = unknown,
  Previous extends AbandonedRecord = AbandonedAttempt<Input>,
> {
  /** The URL of the look-up, with the child key that the handler passed on. Its path is stored as evidence. */
  readonly url: (previous: Previous) => string | URL;
  /**
   * For example the authorization. Never stored.
   * @default - none
   */
  readonly headers?: () => Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
  /**
   * Reads the response's JSON: returns the result that every caller gets, or `undefined` if the provider knows of no such
   * effect. `null` is a result.
   */
  readonly found: (body: unknown, previous: Previous) => unknown;
  /**
   * How far the provider's look-up may lag after its effects, in seconds. Within that time after the abandoned attempt's lease,
   * absence proves nothing.
   * @default 60
   */
  readonly lagsSeconds?: number;
  /**
   * How long after the key was first claimed the provider can still find its effect, in seconds. A look-up by idempotency key
   * ends with the key: Stripe may drop keys after 24 hours. After that, absence proves nothing, and an operator decides. Set
   * more if the look-up finds the charges themselves, for example by your own reference.
   * @default 86400 (a day)
   */
  readonly remembersSeconds?: number;
}

const CHECKS: Readonly<Record<keyof HttpLookupOptions, Check>> = {
  url: aFunction,
  headers: aFunction,
  found: aFunction,
  lagsSeconds: seconds(0, 86_400),
  remembersSeconds: remembers,
};

/**
 * A `whenAbandoned` that sends a GET request. `found` reads a 2xx response; 404 and 410 mean that there is nothing. Any other
 * response leaves the key held. Redirects are not followed: the authorization is only for the host that you named.
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately.
 */
export function httpLookup<Input = unknown, Previous extends AbandonedRecord = AbandonedAttempt<Input>>(
  options: HttpLookupOptions<Input, Previous>,
): Verify<Input, Previous> {
  checkOptions(options, CHECKS, ["url", "found"]);
  const { url, headers = () => ({}), found } = options;
  const { lagsSeconds = LAGS_SECONDS, remembersSeconds = DAY_SECONDS } = options;
  const sight = { lagsSeconds, remembersSeconds };
  return async function askProvider(previous: Previous) {
    const address = new URL(url(previous));
    const { signal } = previous;
    const answer = await fetch(address, { headers: await headers(), redirect: "manual", signal });
    const evidence = { asked: `GET ${address.host}${address.pathname}`, answered: `${answer.status}` };
    const isNone = answer.status === 404 || answer.status === 410;
    if (!answer.ok) {
      // If it isn't read, the connection stays open.
      await answer.body?.cancel();
      return isNone ? absent(previous, sight, evidence) : { outcome: "unknown", evidence };
    }
    const result = await found(await answer.json(), previous);
    if (result !== undefined) return { outcome: "happened", result, evidence };
    return absent(previous, sight, { ...evidence, answered: `${answer.status}, nothing found` });
  };
}
