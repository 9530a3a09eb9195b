/** Requests outside of calls, such as those of the reconciler and of operators' commands, that end. */
import { answerWithin } from "./answer-within.ts";
import { systemClock } from "./clock.ts";
import { StoreUnavailableError } from "./errors.ts";

/** Longer than any request of a store takes. A client whose connection was lost may never answer. */
export const REQUEST_MS = 30_000;

/** @throws StoreUnavailableError (`STORE_UNAVAILABLE`) when no answer came. The request may still be applied. */
export function inTime<T>(asking: Promise<T>, ms = REQUEST_MS): Promise<T> {
  // A test's clock must not run ahead of a request that a real server is answering.
  return answerWithin(
    systemClock,
    ms,
    asking,
    () => new StoreUnavailableError("unreachable", undefined, `no answer in ${Math.ceil(ms)} ms`),
  );
}

/** A store or an outbox each of whose requests ends, the pages of a list one by one. */
export function ending<Target extends object>(target: Target, patienceMs = () => REQUEST_MS): Target {
  const inItsTime = (answer: unknown): unknown => {
    if (answer instanceof Promise) return inTime(answer, patienceMs());
    const pages = (answer as Partial<AsyncIterable<unknown>> | null | undefined)?.[Symbol.asyncIterator]?.();
    return pages ? pagesInTime(pages, patienceMs) : answer;
  };
  // A proxy of the target itself couldn't change what a frozen one has.
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
    // The reader has left before the end. A list that failed, or that doesn't answer, can't be closed.
    if (isOpen) await pages.return?.();
  }
}
