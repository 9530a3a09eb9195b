/** How wrong this machine's clock is, as answers prove it: signatures hold for minutes around the service's time. */
import { type HttpAnswer, serverTimeOf } from "./read-answer.ts";

/** Further from the service's time than that, a signature is close to being refused. */
export const NOTABLE_SKEW_MS = 240_000;

/** Dates in HTTP have whole seconds. */
const PRECISION_MS = 1000;

/**
 * What the clock is behind by (ms), by an answer to a request of `sentAt`; `undefined` where the answer does not tell. The
 * service told its time somewhere between the sending and `now`: a process that stood still meanwhile has no wrong clock.
 */
export function clockOffsetOf(answer: HttpAnswer, sentAt: number, now: number): number | undefined {
  const serverTimeMs = serverTimeOf(answer);
  // What a cache has kept tells of another time.
  if (serverTimeMs === undefined || answer.headers.age !== undefined) return undefined;
  const tooEarly = serverTimeMs + PRECISION_MS - sentAt;
  return tooEarly < 0 ? tooEarly : Math.max(0, serverTimeMs - now);
}
