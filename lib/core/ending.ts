/** Time limits for requests outside of calls, such as those of the reconciler and of operators' commands. */
import { answerWithin } from "./answer-within.ts";
import { systemClock } from "./clock.ts";
import { StoreUnavailableError } from "./errors.ts";

/** Longer than any request of a store lasts. A client whose connection was lost may never answer. */
export const REQUEST_MS = 30_000;

/** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) if no answer came. The request may still be applied. */
export function inTime<T>(asking: Promise<T>, ms = REQUEST_MS): Promise<T> {
  // A test's clock must not run ahead of a request to a real server.
  return answerWithin(
    systemClock,
    ms,
    asking,
    () => new StoreUnavailableError("unreachable", undefined, `no answer in ${Math.ceil(ms)} ms`),
  );
}

/** A store or an outbox whose requests all have a time limit, including each page of a list. */
export function ending<Target extends object>(target: Target, patienceMs = () => REQUEST_MS): Target {
  const inItsTime = (answer: unknown): unknown => {
    if (answer instanceof Promise) return inTime(answer, patienceMs());
    const pages = (answer as Partial<AsyncIterable<unknown>> | null | undefined)?.[Symbol.asyncIterator]?.();
    return pages ? pagesInTime(pages, patienceMs) : answer;
  };
  // A proxy of the target itself couldn't change the members of a frozen one.
  return new Proxy(Object.create(target) as Target, {
    get(_, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...given: readonly unknown[]) => inItsTime(value.apply(target, given));
    },
  });
}

async function* pagesInTime<Page>(
  pages: AsyncIterator<Page>,
  patienceMs: () => number,
): AsyncGenerator<Page> {
  let isOpen = false;
  try {
    for (;;) {
      const next = await inTime(pages.next(), patienceMs());
      if (next.done) return;
      isOpen = true;
      yield next.value;
      isOpen = false;
    }
  } finally {
    // The reader stopped before the end. A list that failed, or that doesn't answer, can't be closed.
    if (isOpen) await pages.return?.();
  }
}
