/** The Valkey and Redis store: every decision is one script on the server. All policy is in the engine. */
import { CommitInvalidError, StoreUnavailableError, TransactionConditionError } from "../core/errors.ts";
import { type IdempotencyRecord, isTracked } from "../core/record.ts";
import { readResultAddress } from "../core/result-address.ts";
import type {
  Claim,
  ClaimAnswer,
  Effects,
  Insertion,
  RenewAnswer,
  Renewal,
  SettleAnswer,
  Settlement,
  StepChange,
  Store,
} from "../core/store.ts";
import type { UnknownOutcome } from "../core/unknown-outcome.ts";
import { withDefaults } from "../core/with-defaults.ts";
import { readRecord } from "./answers.ts";
import { ValkeyConnection } from "./connection.ts";
import { isThrottle } from "./failures.ts";
import { ValkeyKeys } from "./keys.ts";
import { checkValkeyStore, VALKEY_DEFAULTS, type ValkeyStoreOptions } from "./options.ts";
import { beginningWords, endWords, flag, resultWords, seenWords, stepWords } from "./record-words.ts";
import type { Move } from "./script.ts";
import { listUnsettled } from "./unsettled.ts";
import {
  blameLongWrite,
  checkSlots,
  checkValkeyWrites,
  longest,
  type ValkeyWrite,
  writeWords,
} from "./writes.ts";

/** Longer than any request needs. A client whose connection was lost may wait forever for another one. */
const PATIENCE_MS = 30_000;

interface Addressee {
  readonly recordKey: string;
  /** Absent if nothing is changed. */
  readonly token?: string;
  readonly writes?: readonly ValkeyWrite[];
}

/** The script's answer: either the record was changed, or here is the record. */
type MoveAnswer =
  | { readonly isChanged: true; readonly serverTimeMs: number }
  | { readonly isChanged: false; readonly record: IdempotencyRecord | undefined };

/**
 * Keeps records in Valkey, or in Redis 6.2 or later. Each decision is one script on the server, so races have one winner, and
 * the loser gets the winner's record. A claim, a replay or a commit is one request.
 *
 * Its promises are only as good as the server: a server that evicts, forgets or fails over may lose records, and then their
 * operations run again. The first call checks the server, and refuses any risk not in `acceptedRisks`. A claim repeats that
 * check once a minute. Records without an expiry, such as held ones, are never deleted. Results up to 64 KB come with the
 * record, larger ones need one more request. Beyond 16 MB the record says that the result was not kept.
 */
export class ValkeyStore implements Store<ValkeyWrite> {
  /** @internal */
  readonly patienceMs: number;
  readonly #keys: ValkeyKeys;
  readonly #connection: ValkeyConnection;
  readonly #prefix: string;
  /** The first arguments of every request. */
  readonly #own: readonly [keepMs: string, touches: string];

  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: ValkeyStoreOptions) {
    checkValkeyStore(options);
    const { hashTag, acknowledgedBy, ...all } = withDefaults(options, VALKEY_DEFAULTS);
    this.#prefix = all.prefix;
    this.patienceMs = PATIENCE_MS + (acknowledgedBy?.timeoutMs ?? 0);
    this.#keys = new ValkeyKeys(all.prefix, hashTag);
    this.#connection = new ValkeyConnection({ ...all, acknowledgedBy });
    this.#own = [`${all.keepExpiredSeconds * 1000}`, flag(acknowledgedBy)];
  }

  /**
   * Checks whether the server keeps records, as the first call would: call it when the process starts.
   * @throws InvalidOptionError (`INVALID_OPTION`) for a risk that is not accepted, StoreUnavailableError (`STORE_UNAVAILABLE`)
   */
  check(): Promise<void> {
    return this.#connection.check();
  }

  async claim(claim: Claim, seen?: IdempotencyRecord): Promise<ClaimAnswer> {
    const words = [...seenWords(seen), flag(claim.keepsSteps), ...beginningWords(claim, "in-progress")];
    const answer = await this.#move("claim", claim, words);
    if (!answer.isChanged) return { won: false, record: answer.record };
    return { won: true, serverTimeMs: answer.serverTimeMs };
  }

  async settle(settlement: Settlement<ValkeyWrite>): Promise<SettleAnswer> {
    const words = [settlement.state, flag(!settlement.dropsSteps), ...endWords(settlement)];
    return this.#finish("settle", settlement, words);
  }

  async renew(renewal: Renewal): Promise<RenewAnswer> {
    const { leaseEndsAt, expiresAt = "" } = renewal;
    const answer = await this.#move("renew", renewal, [`${leaseEndsAt}`, `${expiresAt}`]);
    return answer.isChanged ? { renewed: true } : { renewed: false, record: answer.record };
  }

  async writeStep(change: StepChange<ValkeyWrite>): Promise<SettleAnswer> {
    const isListed = isTracked({ steps: { step: change.step } });
    const words = [...stepWords(change), flag(change.isFirst), flag(isListed)];
    const answer = await this.#finish("step", change, words);
    const [, lostBytes] = resultWords(change.result);
    return answer.settled && lostBytes !== undefined ? { ...answer, lostBytes } : answer;
  }

  async insert(insertion: Insertion<ValkeyWrite>, seen?: IdempotencyRecord): Promise<SettleAnswer> {
    const words = [
      insertion.state,
      ...seenWords(seen),
      flag(insertion.keepsSteps),
      ...beginningWords(insertion, insertion.state),
      ...endWords(insertion),
    ];
    return this.#finish("insert", insertion, words);
  }

  /** Always consistent: a script runs on the primary, even if the client reads from replicas. */
  async find(recordKey: string, _read: { consistent: boolean }): Promise<IdempotencyRecord | undefined> {
    const answer = await this.#move("find", { recordKey }, []);
    return answer.isChanged ? undefined : answer.record;
  }

  async loadResult(address: string): Promise<string | undefined> {
    const [recordKey = "", field = "", token = ""] = readResultAddress(address);
    const [text] = await this.#run("load", { recordKey }, [field, token]);
    return text;
  }

  checkEffects(effects: Effects<ValkeyWrite>): void {
    checkValkeyWrites(effects, (key) => this.#keys.isOwn(key));
  }

  /**
   * Lists held keys and abandoned attempts from before `before` (epoch ms), for functions that use hold or verify. `Date.now()`
   * lists all of them, roughly oldest first: 25 entries of each of 256 lists are read at a time. A listed key whose record has
   * been deleted is reported as `unreadable`.
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`)
   */
  unknownOutcomes({ before }: { readonly before: number }): AsyncGenerator<UnknownOutcome> {
    return listUnsettled(
      {
        indexes: this.#keys.indexes(),
        page: (index, words) =>
          this.#connection.run({
            move: "unsettled",
            keys: [index, index],
            words: ["", ...this.#own, "", "unsettled", ...words],
          }),
        find: (recordKey) => this.find(recordKey, { consistent: true }),
      },
      before,
    );
  }

  async #finish(
    move: Move,
    change: Addressee & { writes: readonly ValkeyWrite[] },
    words: readonly string[],
  ): Promise<SettleAnswer> {
    const answer = await this.#move(move, change, words);
    return answer.isChanged ? { settled: true } : { settled: false, record: answer.record };
  }

  async #move(
    move: Move,
    { recordKey, token = "", writes }: Addressee,
    words: readonly string[],
  ): Promise<MoveAnswer> {
    if (writes && this.#connection.isCluster) checkSlots(writes, this.#keys.of(recordKey).record);
    const commands = writes && writeWords(writes);
    const [kind, ...fields] = await this.#run(
      move,
      { recordKey, token },
      [...(commands?.words ?? []), ...words],
      commands?.keys,
    ).catch((error) => {
      throw blameLongWrite(error, writes, longest(words));
    });
    if (kind === "1") return { isChanged: true, serverTimeMs: Number(fields[0]) };
    if (kind === "2") throw this.#refusal(Number(fields[0]), fields[1]);
    return { isChanged: false, record: readRecord(recordKey, fields) };
  }

  #run(
    move: Move,
    { recordKey, token = "" }: Addressee,
    words: readonly string[],
    writeKeys: readonly string[] = [],
  ): Promise<readonly string[]> {
    const { record, index } = this.#keys.of(recordKey);
    // A read names one key: while its slot is being moved, a node refuses several keys unless it has them all.
    const keys = token === "" ? [record] : [record, index, ...writeKeys];
    return this.#connection.run({
      move,
      keys,
      words: [token, ...this.#own, recordKey, move, ...words],
    });
  }

  /** @param error the server's error about the write; empty if its condition was not met */
  #refusal(index: number, error = ""): Error {
    if (error === "") return new TransactionConditionError(index, undefined, undefined);
    const cause = new Error(error);
    if (isThrottle(cause)) {
      return new StoreUnavailableError("throttled", cause, "OOM", { action: "COMMIT", table: this.#prefix });
    }
    const [code] = error.split(" ");
    const message = `the server refuses writes[${index}] (${code}): nothing was written; fix the write`;
    return new CommitInvalidError(message, { index, cause });
  }
}
