// An error of every class of ours, as a handler may throw it: made by itself, or in the name of one.
import * as errors from "../../lib/core/errors.ts";

/** But those that handlers are meant to throw, with a status for their callers. */
const isErrorClass = (value: unknown) =>
  typeof value === "function" &&
  value.prototype instanceof errors.OnceonlyError &&
  !(value.prototype instanceof errors.PermanentError) &&
  value !== errors.OnceonlyError;

/** As the constructors want it: numbers where they are times and sizes, lists where they count. */
const ARGUMENTS: Readonly<Record<string, readonly unknown[]>> = {
  ExecutionInProgressError: [4_000_000_000_000],
  SendFailedError: [[{ sent: false, code: "Gone" }]],
  StoreUnavailableError: ["throttled", new Error("slow down")],
};

/** Fresh ones: errors are marked and carried around. */
export function ourErrors(): [code: string, make: () => Error][] {
  return Object.entries(errors)
    .filter(([, value]) => isErrorClass(value))
    .map(([name, value]) => {
      const make = () =>
        Reflect.construct(value as unknown as typeof Error, ARGUMENTS[name] ?? ["a", "b", "c"]);
      return [make().code, make] as const;
    })
    .flatMap(([code, make]) => [
      [code, make],
      [`${code} by name`, () => Object.assign(new errors.PermanentError("hidden"), { code })],
      [`${code} by name, frozen`, () => Object.freeze(Object.assign(make(), { isOurs: true, keyHash: "k" }))],
    ]);
}
