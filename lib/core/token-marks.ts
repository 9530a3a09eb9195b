/** Marks at the start of a claim token, which say about a record what its other attributes don't. */
import { InvalidOptionError } from "./errors.ts";

interface Marking {
  readonly sealsResults?: boolean;
  readonly usesBucket?: boolean;
}

/** The store, or one that it wraps, encrypts results. */
const seals = (store: Marking) => store.sealsResults === true;

/**
 * `h.`: the callers read an HTTP response. `s.`: the results are encrypted. `b.`: a bucket may have results. No random token
 * contains a dot.
 */
const marksIn = (token: string): string => (/^(h\.)?(s\.)?(b\.)?/.exec(token) as RegExpExecArray)[0];

/** The token of a call: marked by what its callers read, and by its store. */
export function markedToken(token: string, isHttp: boolean | undefined, store: object): string {
  return (
    (isHttp ? "h." : "") + (seals(store) ? "s." : "") + ((store as Marking).usesBucket ? "b." : "") + token
  );
}

/** Whether the callers of the attempt with this token read an HTTP response. */
export const isHttpToken = (token: string): boolean => marksIn(token).includes("h.");

/** Whether a bucket may have results of the attempt with this token, or of earlier ones. */
export const usedBucket = (token: string): boolean => marksIn(token).includes("b.");

/** A fresh token for the operation that made the previous one. */
export const tokenLike = (previous: string, token: string): string => marksIn(previous) + token;

/**
 * A result written through a plain store would stay readable among encrypted ones.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function checkSeals(store: object, { token }: { readonly token: string }): void {
  if (!marksIn(token).includes("s.") || seals(store)) return;
  throw new InvalidOptionError(
    "store",
    "must be the handler's `encrypted` store: this key's results are encrypted, and the new one would be stored unencrypted",
  );
}
