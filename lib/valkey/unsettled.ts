/** Lists held and abandoned records of all shards. */
import { hasCode } from "../core/error-code.ts";
import { type IdempotencyRecord, isKnownVersion } from "../core/record.ts";
import { type UnknownOutcome, unknownOutcomeOf } from "../core/unknown-outcome.ts";

/** How many entries of each list are read in one page. */
const PAGE = 25;

/** How many requests are under way at the same time. */
const AT_ONCE = 32;

interface UnsettledSource {
  readonly indexes: readonly string[];
  /** A flat list of record keys and times, oldest first: from one time, before another, after an offset, and up to a limit. */
  page(index: string, words: readonly string[]): Promise<readonly string[]>;
  find(recordKey: string): Promise<IdempotencyRecord | undefined>;
}

interface ListedKey {
  readonly recordKey: string;
  readonly since: number;
}

/** One page of each list in turn: a caller that stops early has seen the oldest of each list. */
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
    // One damaged record must not hide the others. An unsettled record has no expiry, so it must have been deleted by hand.
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
    // Many entries may share one time: skip those already read.
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
