/** Sends entries to one destination in as few requests as the order allows, and failed entries again. */
import type { Clock, Random } from "../core/clock.ts";
import { SendFailedError, type SendResult, type SentMessage } from "../core/errors.ts";
import type { Entry, EntryEnd, Request } from "./entry.ts";
import { GroupLines } from "./group-lines.ts";

export interface SendingRules {
  readonly maxTries: number;
  readonly clock: Clock;
  readonly random: Random;
}

export interface Sending {
  /** In the order of the messages. */
  readonly results: readonly SendResult[];
  /** What the client threw for a request as a whole. */
  readonly cause?: unknown;
}

export const NOT_ATTEMPTED = { sent: false, code: "NotAttempted" } as const;

const FIRST_DELAY_MS = 100;
const MAX_DELAY_MS = 5000;

/**
 * An entry that failed for good keeps the rest of its line from being sent. A request that fails as a whole ends it
 * all: the client has already tried it again by its own rules.
 */
export async function sendInOrder<Form>(
  entries: readonly Entry<Form>[],
  maxBytes: number,
  request: Request<Form>,
  { maxTries, clock, random }: SendingRules,
): Promise<Sending> {
  const lines = new GroupLines(entries, maxBytes);
  const results = entries.map((): SendResult => NOT_ATTEMPTED);
  const tries = entries.map(() => 0);

  for (let heads = lines.heads(); heads.length > 0; heads = lines.heads()) {
    let ends: readonly EntryEnd[];
    try {
      ends = await request(heads.map(({ entry }) => entry.form));
    } catch (cause) {
      for (const { position } of heads) results[position] = { sent: false, code: codeOf(cause) };
      return { results, cause };
    }
    let retried = 0;
    for (const [index, head] of heads.entries()) {
      const { result, mayPass } = ends[index]!;
      const tried = tries[head.position]! + 1;
      tries[head.position] = tried;
      results[head.position] = result;
      if (result.sent) lines.advance(head);
      else if (mayPass && tried < maxTries) retried = Math.max(retried, tried);
      else lines.stop(head);
    }
    if (retried > 0) await clock.sleep(delayAfter(retried, random.fraction()));
  }
  return { results };
}

/** @throws SendFailedError (`SEND_FAILED`) unless every message was sent. */
export function allSent({ results, cause }: Sending): readonly SentMessage[] {
  const sent = results.filter((result) => result.sent);
  if (sent.length < results.length) throw new SendFailedError(results, cause);
  return sent;
}

/** AWS's errors have telling names; those of Node are called `Error` and have a code. */
function codeOf(cause: unknown): string {
  const { name, code } = Object(cause) as { name?: unknown; code?: unknown };
  return [name === "Error" ? code : name, name, "Error"].find((text) => typeof text === "string") as string;
}

/** Full jitter below a doubling bound. */
function delayAfter(tries: number, fraction: number): number {
  return fraction * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 1));
}
