/**
 * How far the messages of a commit have got, as an attribute of its record: which kinds of progress there are, and for each
 * message one character that says which is its own. It stays small for 1000 messages, and when they are sent. Pure.
 */
import { RecordCorruptError } from "../core/errors.ts";
import { MESSAGE_STATES, type MessageProgress } from "../core/messages/outbox.ts";

/** `note` is where it was sent to, or why not. */
type Kind = readonly [state: string, tries: number, at?: number, note?: string];

const DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const MAX_BYTES = 1024;

/** What may be forgotten where there would be too many kinds, from the least important on. */
const ROUGHER: readonly ((progress: MessageProgress) => MessageProgress)[] = [
  (progress) => progress,
  ({ to: _to, code: _code, ...rest }) => rest,
  ({ state, tries }) => ({ state, tries: 2 ** Math.min(13, Math.floor(Math.log2(Math.max(1, tries)))) }),
];

export function deliveryText(progress: readonly MessageProgress[]): string {
  let text = "";
  for (const rougher of ROUGHER) {
    const kinds = new Map<string, string>();
    const of = progress.map((each) => {
      const kind = JSON.stringify(kindOf(rougher(each)));
      if (!kinds.has(kind)) kinds.set(kind, DIGITS[kinds.size] ?? "");
      return kinds.get(kind);
    });
    const is = `[${[...kinds.keys()]}]`;
    text = `{"of":"${of.join("")}","is":${is}}`;
    if (kinds.size <= DIGITS.length && Buffer.byteLength(is) <= MAX_BYTES) break;
  }
  return text;
}

function kindOf({ state, tries, at, to, code }: MessageProgress): Kind {
  const note = to ?? code;
  if (at === undefined) return [state, tries];
  return note === undefined ? [state, tries, at] : [state, tries, at, note];
}

/**
 * Of so many messages.
 * @throws RecordCorruptError (`RECORD_CORRUPT`)
 */
export function readDelivery(text: string, count: number): readonly MessageProgress[] {
  try {
    const { of, is } = JSON.parse(text) as { of: string; is: readonly Kind[] };
    const kinds = is.map(readKind);
    const progress = Array.from(of, (digit) => kinds[DIGITS.indexOf(digit)]!);
    if (progress.length === count && progress.every(Boolean)) return progress;
  } catch (cause) {
    throw new RecordCorruptError("what is known of a commit's messages cannot be read", { cause });
  }
  throw new RecordCorruptError("what is known of a commit's messages is about others");
}

function readKind([state, tries, at, note]: Kind): MessageProgress {
  const known = MESSAGE_STATES.find((each) => each === state);
  if (known === undefined || !Number.isSafeInteger(tries)) throw new TypeError("no such state");
  const noted = note === undefined ? {} : known === "sent" ? { to: note } : { code: note };
  return { state: known, tries, ...(at !== undefined && { at }), ...noted };
}
