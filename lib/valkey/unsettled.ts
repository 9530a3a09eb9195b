/** Lists the records that are held, or whose attempt was abandoned, of all shards. */
import { hasCode } from "../core/error-code.ts";
import { type IdempotencyRecord, isKnownVersion } from "../core/record.ts";
import { type UnknownOutcome, unknownOutcomeOf } from "../core/unknown-outcome.ts";

/** How many entries of each list are read at once. */
const PAGE = 25;

/** How many requests are under way at once. */
const AT_ONCE = 32;

interface UnsettledSource {
  readonly indexes: readonly string[];
  /** Record keys and times behind each other, the oldest first: from a time on, before another one, behind so many, and at most so many. */
  page(index: string, words: readonly string[]): Promise<readonly string[]>;
  find(recordKey: string): Promise<IdempotencyRecord | undefined>;
}

interface ListedKey {
  readonly recordKey: string;
  readonly since: number;
}

/** Page by page in turns: who reads for a while only meets the oldest of each list. */
export async function* listUnsettled(
  source: UnsettledSource,
  before: number,
): AsyncGenerator<UnknownOutcome> {
  const outcomeOf = async ({ recordKey, since }: ListedKey): Promise<UnknownOutcome | undefined> => {
    try {
      const record = await source.find(recordKey);
      if (record && isKnownVersion(record.version)) return unknownOutcomeOf(recordKey, record, since, before);
    } catch (error) {
      if (!hasCode(error, "RECORD_CORRUPT")) throw error;
    }
    // One damaged record must not hide the others. A record that was never settled has no expiry, so somebody deleted it.
    return { recordKey, state: "unreadable", since };
  };
  let pages = source.indexes.map((index) => pagesOf(source, index, before));
  while (pages.length > 0) {
    const read = await inTurns(pages, async (each) => ({ each, entries: (await each.next()).value ?? [] }));
    const entries = read.flatMap((page) => page.entries).toSorted((a, b) => a.since - b.since);
    for (const outcome of await inTurns(entries, outcomeOf)) if (outcome) yield outcome;
    pages = read.filter((page) => page.entries.length === PAGE).map((page) => page.each);
  }
}

async function* pagesOf(
  source: UnsettledSource,
  index: string,
  before: number,
): AsyncGenerator<ListedKey[], undefined> {
  let [since, skipped] = ["-inf", 0];
  for (;;) {
    const words = await source.page(index, [since, `${before}`, `${skipped}`, `${PAGE}`]);
    const entries = words.flatMap((recordKey, at) =>
      at % 2 === 0 ? [{ recordKey, since: Number(words[at + 1]) }] : [],
    );
    yield entries;
    // Many may have one time: those that were read are passed over.
    const last = words.at(-1) ?? since;
    const read = entries.filter((entry) => entry.since === Number(last)).length;
    skipped = last === since ? skipped + read : read;
    since = last;
  }
}

async function inTurns<Item, Result>(
  items: readonly Item[],
  run: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += AT_ONCE) {
    results.push(...(await Promise.all(items.slice(from, from + AT_ONCE).map(run))));
  }
  return results;
}
