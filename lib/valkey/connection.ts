/**
 * Runs requests on a server: checks it once, loads the script if it is missing, waits for replicas, and repeats a request while
 * a cluster is changing.
 */
import { type Clock, systemClock } from "../core/clock.ts";
import { isOnceonlyError, StoreUnavailableError } from "../core/errors.ts";
import { textsOf } from "./answers.ts";
import {
  isChanging,
  isCrossSlot,
  isLostConnection,
  isUnknownScript,
  longWordRefusal,
  valkeyFailure,
} from "./failures.ts";
import type { Acknowledgement, ValkeyRisk } from "./options.ts";
import { type Move, SCRIPT } from "./script.ts";
import { checkServer } from "./server-checks.ts";
import type { ValkeyClient } from "./valkey-client.ts";
import { crossSlotRefusal } from "./writes.ts";

/** How long a server's answer about itself is trusted, by the server's own clock. */
const CHECK_AGAIN_MS = 60_000;

/**
 * How long a request is repeated while slots move or a replica is being promoted. A graceful failover is over by then. After
 * that the call fails in a retryable way; requests that must not be lost are repeated until the deadline.
 */
const PATIENCE_MS = 2000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;

/** `proto-max-bulk-len` and `client-query-buffer-limit` can't be set lower. */
const ALWAYS_ACCEPTED_BYTES = 1_000_000;

interface Settings {
  readonly client: ValkeyClient;
  readonly prefix: string;
  readonly acknowledgedBy?: Acknowledgement | undefined;
  readonly acceptedRisks: readonly ValkeyRisk[];
  /** @default - the system's clock */
  readonly clock?: Clock;
}

interface MoveRequest {
  readonly move: Move;
  readonly keys: readonly string[];
  /** The first is the caller's token, empty for a read; the fifth is the operation. */
  readonly words: readonly string[];
}

export class ValkeyConnection {
  readonly #settings: Settings;
  readonly #clock: Clock;
  #checked: Promise<void> | undefined;
  #isCluster = false;
  /** When the first claim was won after the check (server time, epoch ms). */
  #since: number | undefined;
  /** The last check may be outdated: the next claim checks again. */
  #isOld = false;
  /** A check has succeeded, so a claim may have been won since. */
  #wasGood = false;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#clock = settings.clock ?? systemClock;
  }

  /** Whether the server has reported that it is part of a cluster. */
  get isCluster(): boolean {
    return this.#isCluster;
  }

  /** Checks the server unless that was done before. A failed check is repeated. */
  check(key = `${this.#settings.prefix}:{0}`): Promise<void> {
    this.#checked ??= this.#check(key).catch((error) => {
      this.#checked = undefined;
      throw error;
    });
    return this.#checked;
  }

  /**
   * @throws StoreUnavailableError (`STORE_UNAVAILABLE`), InvalidOptionError (`INVALID_OPTION`), CommitInvalidError
   * (`COMMIT_INVALID`) for keys in different slots
   */
  async run(request: MoveRequest): Promise<readonly string[]> {
    const isClaim = request.move === "claim";
    if (isClaim && this.#isOld) {
      this.#isOld = false;
      this.#checked = undefined;
      this.#since = undefined;
    }
    // Work that has begun is recorded, whatever the server is by now. This key's node is checked: another one may be down.
    if (isClaim || !this.#wasGood) await this.check(request.keys[0]);
    const answer = await this.#move(request);
    if (isClaim) this.#age(answer);
    return answer;
  }

  /**
   * A server that refuses a long word ends the connection, and most clients report only that. If the server answers a short
   * request and then again ends the connection at the long one, it refuses the content.
   */
  async #move(request: MoveRequest): Promise<readonly string[]> {
    const { move, keys, words } = request;
    const run = () =>
      this.#repeat(move.toUpperCase(), (command, isAgain) => this.#send(request, command, isAgain));
    try {
      return await run();
    } catch (error) {
      const isLong = words.some((word) => Buffer.byteLength(word) > ALWAYS_ACCEPTED_BYTES);
      if (!isLong || !isLostConnection(Object(error).cause)) throw error;
      const [key = ""] = keys;
      await this.#repeat("FIND", async (command) =>
        textsOf(await this.#settings.client.send(key, findCommand(command, key, words))),
      );
      return run().catch((again) => {
        throw isLostConnection(Object(again).cause)
          ? longWordRefusal(again, move.toUpperCase(), this.#settings.prefix)
          : again;
      });
    }
  }

  /** @param send gets the command that runs the script, and whether the cluster was changing at the previous try */
  async #repeat(
    action: string,
    send: (command: readonly string[], isAgain: boolean) => Promise<readonly string[]>,
  ): Promise<readonly string[]> {
    const until = this.#clock.now() + PATIENCE_MS;
    let command = ["EVALSHA", SCRIPT.digest];
    let isAgain = false;
    for (let losses = 0, pauseMs = FIRST_PAUSE_MS; ; ) {
      try {
        return await send(command, isAgain);
      } catch (error) {
        const isUnknown = isUnknownScript(error);
        const isLost = isLostConnection(error);
        // It may be a different server from now on.
        if (isLost || isUnknown) this.#isOld ||= this.#since !== undefined;
        if (isUnknown && command[0] === "EVALSHA") {
          // Another node, a restart or SCRIPT FLUSH: load the script there.
          command = ["EVAL", SCRIPT.source];
        } else if (isChanging(error) && this.#clock.now() + pauseMs < until) {
          isAgain = true;
          await this.#clock.sleep(pauseMs);
          pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
        } else if (!isLost || losses++ > 0) {
          // Connections that idled in a frozen process are lost: try once more on another one. The token shows what was applied.
          throw this.#failure(error, action);
        }
      }
    }
  }

  #age([kind, time]: readonly string[]): void {
    if (kind !== "1") return;
    this.#since ??= Number(time);
    this.#isOld ||= Number(time) - this.#since > CHECK_AGAIN_MS;
  }

  async #send(
    { move, keys, words }: MoveRequest,
    command: readonly string[],
    isAgain: boolean,
  ): Promise<readonly string[]> {
    const { client, acknowledgedBy, prefix } = this.#settings;
    const [key = ""] = keys;
    const [token] = words;
    const run = [...command, `${keys.length}`, ...keys, ...words];
    if (!acknowledgedBy || !client.sendTogether || token === "") return textsOf(await client.send(key, run));
    // Clients only redirect single commands. A read makes them learn where the key is.
    if (isAgain) await client.send(key, findCommand(command, key, words));
    const [reply, acknowledged] = await client.sendTogether(key, [run, waitOf(acknowledgedBy)]);
    const answer = textsOf(reply);
    const isOwn = answer[0] === "1" || answer[answer.indexOf("token") + 1] === token;
    const lack = isOwn ? lackOf(acknowledged, acknowledgedBy) : undefined;
    if (lack === undefined) return answer;
    throw new StoreUnavailableError("unreachable", undefined, lack, {
      action: move.toUpperCase(),
      table: prefix,
    });
  }

  async #check(key: string): Promise<void> {
    const { client, acceptedRisks, acknowledgedBy } = this.#settings;
    let info = "";
    try {
      [info = ""] = await this.#repeat("INFO", async () => textsOf([await client.send(key, ["INFO"])]));
    } catch (error) {
      const { failure } = error as StoreUnavailableError;
      if (failure !== "refused" || !acceptedRisks.includes("unreported")) throw error;
    }
    checkServer(info, acceptedRisks, acknowledgedBy);
    this.#isCluster = /^cluster_enabled:1\b/m.test(info);
    this.#wasGood = true;
  }

  #failure(error: unknown, action: string): Error {
    if (isOnceonlyError(error)) return error;
    return isCrossSlot(error) ? crossSlotRefusal(error) : valkeyFailure(error, action, this.#settings.prefix);
  }
}

/** The command that reads the record of a request. */
function findCommand(command: readonly string[], key: string, words: readonly string[]): string[] {
  return [...command, "1", key, "", ...words.slice(1, 4), "find"];
}

function waitOf({ replicas, timeoutMs, onDisk }: Acknowledgement): string[] {
  return onDisk ? ["WAITAOF", "1", `${replicas}`, `${timeoutMs}`] : ["WAIT", `${replicas}`, `${timeoutMs}`];
}

/** Describes what is missing from an acknowledgement, given the reply to WAIT or WAITAOF. */
function lackOf(acknowledged: unknown, { replicas, timeoutMs, onDisk }: Acknowledgement): string | undefined {
  const counts = [acknowledged].flat().map(Number);
  const [had = 0, onPrimary = 1] = onDisk ? counts.toReversed() : counts;
  if (had >= replicas && onPrimary >= 1) return undefined;
  const who =
    had < replicas
      ? `${had} of ${replicas} replicas`
      : "the primary hasn't written it to disk, and the replicas";
  return `${who} had the write after ${timeoutMs} ms`;
}
