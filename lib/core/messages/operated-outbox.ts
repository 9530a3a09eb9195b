/** An operator's decisions about waiting or parked messages, for every database. */
import { parkedShard } from "../../contract.ts";
import { systemClock } from "../clock.ts";
import { hasCode } from "../error-code.ts";
import { InvalidOptionError, type RecordCorruptError } from "../errors.ts";
import { hashTuple } from "../identity.ts";
import { type Check, text } from "../option-checks.ts";
import { ADDRESS_KINDS } from "./address.ts";
import { type FoundUnsent, isOver, type MessageProgress, UNTRIED, type Unsent } from "./outbox.ts";
import { checkOperator, type OutboxAct, type OutboxOperator, withAct } from "./outbox-act.ts";
import type { OutgoingMessage, StoredMessage } from "./outgoing-message.ts";
import { prepareMessage, refuseTwins } from "./prepare-message.ts";

/** Another destination, of any kind; `source` and `detailType` for a bus. */
export interface OutboxDestinationChange {
  readonly queue?: string;
  readonly topic?: string;
  readonly bus?: string;
  readonly source?: string;
  readonly detailType?: string;
  /** For a FIFO destination, if the message has no group. */
  readonly group?: string;
}

/** Which messages of a commit, who decides about them, and why. */
export interface OutboxDropOptions extends OutboxOperator {
  /** Positions in the commit, from 0, of messages that wait or are parked. */
  readonly messages: readonly number[];
}

export interface OutboxSendAgainOptions extends OutboxOperator {
  /** @default - all that are neither sent nor dropped */
  readonly messages?: readonly number[] | undefined;
}

export interface OutboxRedirectOptions extends OutboxDropOptions {
  readonly to: OutboxDestinationChange;
}

/** One message, its new body, and the key under which that is sent. */
export interface OutboxEditOptions extends OutboxOperator {
  /** Its position in the commit, from 0. It waits or is parked. */
  readonly message: number;
  /** As in `commit`: a string is sent as it is, anything else as JSON. */
  readonly body: unknown;
  /**
   * The key of the edited message: consumers know the previous one with the previous body.
   * @default - derived from the record and the time: another one for each edit
   */
  readonly key?: string;
}

/** The result of an operator's decision about a commit. */
export interface ChangedCommit {
  readonly progress: readonly MessageProgress[];
  /** The commit's messages, with new destinations if they were redirected. */
  readonly messages: readonly StoredMessage[];
  /** The record's evidence, including this decision. */
  readonly evidence: string;
}

const PLACES_RULE = "must be an array of indexes (from 0) of messages that are waiting or parked";
const MESSAGES_CHECKS: Readonly<Record<string, Check>> = { messages: [PLACES_RULE, Array.isArray] };
const REDIRECT_CHECKS: Readonly<Record<string, Check>> = {
  ...MESSAGES_CHECKS,
  to: ["must be an object that names a destination", (value) => Object(value) === value],
};

const EDIT_CHECKS: Readonly<Record<string, Check>> = {
  message: ["must be the index (from 0) of a message that is waiting or parked", Number.isInteger],
  body: ["is required", (value) => value !== undefined],
  key: text(255),
};

/** Of SQS's Extended Client Library: the body is in a bucket. */
const IN_BUCKET = "ExtendedPayloadSize";

/** A commit that has messages to send, as an operator sees it. */
export interface ListedCommit {
  /** `<operation>#<scope>#<hash of the key>` */
  readonly recordKey: string;
  /** Absent if it can't be read. */
  readonly commit?: Unsent;
  /** Why the commit is unreadable. */
  readonly fault?: RecordCorruptError;
}

/** Lists and changes an outbox on behalf of an operator. */
export abstract class OperatedOutbox {
  abstract readonly shards: number;
  abstract load(recordKey: string): Promise<Unsent | undefined>;
  abstract findUnsent(shard: number, before: number): AsyncIterable<readonly FoundUnsent[]>;

  /**
   * Stores the decision, who made it and why, and the messages if some are redirected. Ends the commit if nothing is left to
   * send.
   * @returns false if the commit was changed since it was read
   */
  protected abstract decide(commit: Unsent, decided: ChangedCommit): Promise<boolean>;

  /**
   * Commits that have messages in this state (or in either), first due first in each shard. For operators, not for senders.
   * Each commit is read whole, so read only the first few of a long list.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`), on DynamoDB also if the table has no such index
   */
  async *list(state?: "waiting" | "parked"): AsyncGenerator<ListedCommit> {
    for await (const recordKey of this.#unsentKeys(state)) {
      const listed = await this.#look(recordKey);
      if (!listed) continue;
      const { progress = [UNTRIED] } = { ...listed.commit };
      const isAsked = (each: MessageProgress) => (state ? each.state === state : !isOver(each));
      if (!listed.commit || progress.some(isAsked)) yield listed;
    }
  }

  async *#unsentKeys(state: "waiting" | "parked" | undefined): AsyncGenerator<string> {
    const shards = Array.from({ length: this.shards }, (_, shard) => shard);
    // If the commit also has waiting messages, it is listed among those.
    for (const shard of state === "waiting" ? shards : [...shards, ...shards.map(parkedShard)]) {
      for await (const page of this.findUnsent(shard, Number.MAX_SAFE_INTEGER)) {
        for (const { recordKey } of page) yield recordKey;
      }
    }
  }

  /**
   * Sends messages again, as if they had never been tried: parked ones, and waiting ones without further delay. A message that
   * is older than the senders' `parkAfterSeconds` gets one try. The record keeps who decided, and why.
   * @returns false if the commit was changed since it was read; then read it again
   * @throws InvalidOptionError (`INVALID_OPTION`) before any I/O, StoreUnavailableError (`STORE_UNAVAILABLE`)
   */
  async sendAgain(commit: Unsent, options: OutboxSendAgainOptions): Promise<boolean> {
    checkOperator(options, MESSAGES_CHECKS, []);
    const { messages = openPlaces(commit) } = options;
    return this.#decide("send-again", commit, { ...options, messages }, commit.messages);
  }

  /**
   * Gives messages another destination, checked as in `commit`, and sends them there. Otherwise like `sendAgain`.
   * @throws InvalidOptionError (`INVALID_OPTION`), PayloadInvalidError (`PAYLOAD_INVALID`), MessageIdInvalidError
   * (`MESSAGE_ID_INVALID`) before any I/O, StoreUnavailableError (`STORE_UNAVAILABLE`)
   */
  async redirect(commit: Unsent, options: OutboxRedirectOptions): Promise<boolean> {
    checkOperator(options, REDIRECT_CHECKS, ["messages", "to"]);
    const { messages, to } = options;
    return this.#decide("redirect", commit, options, redirected(commit.messages, messages, to));
  }

  /**
   * Gives a message another body and key, checked as in `commit`, and sends it. The record keeps the previous key. Otherwise
   * like `sendAgain`. A message that an encrypted store has sealed can't be edited, nor one whose body is in a bucket.
   * @throws InvalidOptionError (`INVALID_OPTION`), PayloadInvalidError (`PAYLOAD_INVALID`), MessageIdInvalidError
   * (`MESSAGE_ID_INVALID`) before any I/O, StoreUnavailableError (`STORE_UNAVAILABLE`)
   */
  async edit(commit: Unsent, options: OutboxEditOptions): Promise<boolean> {
    checkOperator(options, EDIT_CHECKS, ["message", "body"]);
    const { message: place, body, clock = systemClock } = options;
    const former = commit.messages[place];
    if (!former) throw new InvalidOptionError("message", EDIT_CHECKS.message![0] as string, place);
    const { sealed, attributes } = former as StoredMessage & { readonly sealed?: unknown };
    if (sealed !== undefined || attributes?.[IN_BUCKET] !== undefined)
      throw new InvalidOptionError(
        "message",
        sealed === undefined
          ? "has its body in a bucket: drop it, and send another one"
          : "is encrypted: drop it, and send another one",
      );
    const { key = hashTuple("onceonly/edit/1", commit.recordKey, `${place}`, `${clock.now()}`) } = options;
    const edited = prepareMessage(`messages[${place}]`, { ...former, body, key } as OutgoingMessage);
    const messages = commit.messages.map((each, index) => (index === place ? edited : each));
    refuseTwins(messages);
    const decided = { ...options, messages: [place], formerKey: former.key };
    return this.#decide("edit", commit, decided, messages);
  }

  /**
   * Gives messages up for good: they are never sent, and the record says so. Otherwise like `sendAgain`.
   * @throws InvalidOptionError (`INVALID_OPTION`) before any I/O, StoreUnavailableError (`STORE_UNAVAILABLE`)
   */
  async drop(commit: Unsent, options: OutboxDropOptions): Promise<boolean> {
    checkOperator(options, MESSAGES_CHECKS, ["messages"]);
    return this.#decide("drop", commit, options, commit.messages);
  }

  #decide(
    act: OutboxAct["act"],
    commit: Unsent,
    options: OutboxDropOptions & Pick<OutboxAct, "formerKey">,
    messages: readonly StoredMessage[],
  ): Promise<boolean> {
    const places = [...new Set(options.messages)];
    const progress = progressWith(commit, places, act === "drop" ? dropped : sentAgain);
    const evidence = withAct(commit.evidence, act, places, options);
    return this.decide(commit, { progress, messages, evidence });
  }

  /** The commit's current state, or why it can't be read. */
  async #look(recordKey: string): Promise<ListedCommit | undefined> {
    try {
      const commit = await this.load(recordKey);
      return commit && { recordKey, commit };
    } catch (error) {
      if (hasCode(error, "RECORD_CORRUPT")) return { recordKey, fault: error as RecordCorruptError };
      throw error;
    }
  }
}

const progressIn = ({ messages, progress = messages.map(() => UNTRIED) }: Unsent) => progress;

/** Positions of the messages that are neither sent nor dropped. */
const openPlaces = (commit: Unsent): readonly number[] =>
  progressIn(commit).flatMap((each, place) => (isOver(each) ? [] : place));

/**
 * The progress of all messages, with changes to those at `places`.
 * @throws InvalidOptionError (`INVALID_OPTION`) for the positions of other messages
 */
function progressWith(
  commit: Unsent,
  places: readonly number[],
  change: (former: MessageProgress) => MessageProgress,
): readonly MessageProgress[] {
  const progress = progressIn(commit);
  const isMeant = (place: number) => progress[place] !== undefined && !isOver(progress[place]);
  if (places.length === 0 || !places.every(isMeant)) throw new InvalidOptionError("messages", PLACES_RULE);
  return progress.map((each, place) => (places.includes(place) ? change(each) : each));
}

/** As if never tried. A time without tries records that an operator asked for it. */
const sentAgain = ({ at = 0 }: MessageProgress): MessageProgress => ({
  state: "waiting",
  tries: 0,
  at,
});

const dropped = (former: MessageProgress): MessageProgress => ({ ...former, state: "dropped" });

/**
 * The commit's messages, some with a new destination, checked as `commit` checks them.
 * @throws PayloadInvalidError (`PAYLOAD_INVALID`), MessageIdInvalidError (`MESSAGE_ID_INVALID`)
 */
function redirected(
  messages: readonly StoredMessage[],
  places: readonly number[],
  to: OutboxDestinationChange,
): readonly StoredMessage[] {
  return messages.map((message, place) => {
    if (!places.includes(place)) return message;
    // A message sealed by an encrypted store stays as it is. It is checked when it is opened.
    const { sealed, ...given } = { ...message } as Record<string, unknown>;
    for (const name of [...ADDRESS_KINDS, "source", "detailType"]) delete given[name];
    if (to.bus !== undefined) {
      for (const name of ["group", "attributes", "delaySeconds"]) delete given[name];
      given.body = detailOf(message.body);
    }
    const prepared = prepareMessage(`messages[${place}]`, { ...given, ...to } as OutgoingMessage);
    return sealed === undefined ? prepared : { ...prepared, sealed };
  });
}

/** A body that isn't JSON isn't an event. */
function detailOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
