/** Faults between the engine and its store, whichever store it is. No request travels, so no SDK repeats it. */
import { StoreUnavailableError } from "../../../lib/core/errors.ts";
import type { Store } from "../../../lib/core/store.ts";
import { isLease } from "../../../lib/core/store-lease.ts";

export type StoreMethod = "claim" | "settle" | "renew" | "writeStep" | "insert" | "find" | "loadResult";

/** Stands between the engine and a store: `request` is the real thing, to be made once, twice or never. */
export type Intercept = (
  method: StoreMethod,
  request: () => Promise<unknown>,
  parameters: readonly unknown[],
) => Promise<unknown>;

export function intercepted<S extends Store<never>>(store: S, intercept: Intercept): S {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      // A check is no request, and a list is many.
      if (name === "checkEffects" || name === "unknownOutcomes") return value.bind(target);
      return (...parameters: unknown[]) =>
        intercept(name as StoreMethod, () => Reflect.apply(value, target, parameters), parameters);
    },
  });
}

/** A store, and the requests that are made to it: each as its method and its arguments. */
export function watched<S extends Store<never>>(store: S) {
  const requests: [StoreMethod, ...unknown[]][] = [];
  const watching = intercepted(store, (method, request, parameters) => {
    requests.push([method, ...parameters]);
    return request();
  });
  return { store: watching, requests };
}

export const unreachable = () => new StoreUnavailableError("unreachable", new Error("no answer"));
export const throttled = () => new StoreUnavailableError("throttled", new Error("slow down"));

/** Whether a request is about a record, and not about the lease that reconcilers take. */
export function isOfRecord([given]: readonly unknown[]): boolean {
  return !isLease(typeof given === "string" ? given : `${Object(given).recordKey}`);
}

/**
 * Fails the requests of one method about records as planned: `before` it is applied, or `after` it, when only the answer is
 * lost.
 */
export function failing<S extends Store<never>>(
  store: S,
  method: StoreMethod,
  when: "before" | "after",
  { times = Number.POSITIVE_INFINITY, error = unreachable }: { times?: number; error?: () => Error } = {},
): S {
  let failures = 0;
  return intercepted(store, async (name, request, parameters) => {
    if (name !== method || failures >= times || !isOfRecord(parameters)) return request();
    failures++;
    if (when === "after") await request();
    throw error();
  });
}

/** What the SDK does when an answer is lost: the same request again, and the second answer counts. */
export function answerLost<S extends Store<never>>(store: S, ...methods: readonly StoreMethod[]): S {
  return intercepted(store, async (name, request) => {
    if (methods.includes(name)) await request().catch(() => {});
    return request();
  });
}
