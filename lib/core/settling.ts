/** Writes that must not be lost: repeated until there is no time left. */
import { StoreUnavailableError } from "./errors.ts";
import type { Operation } from "./operation.ts";
import type { Store } from "./store.ts";

/**
 * Repeats `request` while the store fails in a way that may pass, until `until` (epoch ms).
 * @throws the last StoreUnavailableError; any other error at once.
 */
export async function persist<Write, T>(
  operation: Operation<Write>,
  until: number,
  request: (store: Store<Write>) => Promise<T>,
): Promise<T> {
  const { clock, random } = operation.options;
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 2000)) {
    try {
      return await operation.ask(request);
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      const jittered = pauseMs * (0.5 + random.fraction() / 2);
      if (error.failure === "refused" || clock.now() + jittered >= until) throw error;
      await clock.sleep(jittered);
    }
  }
}
