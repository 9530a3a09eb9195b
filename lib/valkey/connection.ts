/** Runs moves on a server: checks it once, loads the script where it is not there, and waits for replicas. */
import { hasCode } from "../core/error-code.ts";
import { StoreUnavailableError } from "../core/errors.ts";
import { textsOf } from "./answers.ts";
import { isLostConnection, isUnknownScript, valkeyFailure } from "./failures.ts";
import type { Acknowledgement, ValkeyRisk } from "./options.ts";
import { type Move, SCRIPT } from "./script.ts";
import { checkServer } from "./server-checks.ts";
import type { ValkeyClient } from "./valkey-client.ts";

/** For how long a server is believed to be what it said, by its own clock. */
const CHECK_AGAIN_MS = 60_000;

interface Settings {
  readonly client: ValkeyClient;
  readonly prefix: string;
  readonly acknowledgedBy?: Acknowledgement | undefined;
  readonly acceptedRisks: readonly ValkeyRisk[];
}

interface MoveRequest {
  readonly move: Move;
  readonly keys: readonly string[];
  /** The first is the caller's token: empty where it only reads. */
  readonly words: readonly string[];
}

export class ValkeyConnection {
  readonly #settings: Settings;
  #checked: Promise<void> | undefined;
  /** When the first claim was won after the server was asked (epoch ms of the server). */
  #since: number | undefined;
  /** What the server said may not be so any more: the next claim asks again. */
  #isOld = false;
  /** A claim may have been won since. */
  #wasGood = false;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /** Asks a server what it is, unless it has said so. A check that failed is made again. */
  check(): Promise<void> {
    this.#checked ??= this.#check().catch((error) => {
      this.#checked = undefined;
      throw error;
    });
    return this.#checked;
  }

  /** @throws StoreUnavailableError (`STORE_UNAVAILABLE`), InvalidOptionError (`INVALID_OPTION`) */
  async run(request: MoveRequest): Promise<readonly string[]> {
    const isClaim = request.move === "claim";
    if (isClaim && this.#isOld) {
      this.#isOld = false;
      this.#checked = undefined;
      this.#since = undefined;
    }
    // What has begun is recorded, whatever the server is by now.
    if (isClaim || !this.#wasGood) await this.check();
    let command = ["EVALSHA", SCRIPT.digest];
    for (let losses = 0; ; ) {
      try {
        const answer = await this.#send(request, command);
        if (isClaim) this.#age(answer);
        return answer;
      } catch (error) {
        const isUnknown = isUnknownScript(error);
        const isLost = isLostConnection(error);
        // It may be another server from now on.
        if (isLost || isUnknown) this.#isOld ||= this.#since !== undefined;
        if (isUnknown && command[0] === "EVALSHA") {
          // Another node, a restart, SCRIPT FLUSH: this loads it there.
          command = ["EVAL", SCRIPT.source];
        } else if (!isLost || losses++ > 0) {
          // Connections that idled in a frozen process are lost: another one is asked once. The token tells what was applied.
          throw this.#failure(error, request.move.toUpperCase());
        }
      }
    }
  }

  #age([kind, time]: readonly string[]): void {
    if (kind !== "1") return;
    this.#since ??= Number(time);
    this.#isOld ||= Number(time) - this.#since > CHECK_AGAIN_MS;
  }

  async #send({ move, keys, words }: MoveRequest, command: readonly string[]): Promise<readonly string[]> {
    const { client, acknowledgedBy, prefix } = this.#settings;
    const [key = ""] = keys;
    const [token] = words;
    const run = [...command, `${keys.length}`, ...keys, ...words];
    if (!acknowledgedBy || !client.sendTogether || token === "") return textsOf(await client.send(key, run));
    const [reply, told] = await client.sendTogether(key, [run, waitOf(acknowledgedBy)]);
    const answer = textsOf(reply);
    const isOwn = answer[0] === "1" || answer[answer.indexOf("token") + 1] === token;
    const lack = isOwn ? lackOf(told, acknowledgedBy) : undefined;
    if (lack === undefined) return answer;
    throw new StoreUnavailableError("unreachable", undefined, lack, {
      action: move.toUpperCase(),
      table: prefix,
    });
  }

  async #check(): Promise<void> {
    const { client, prefix, acceptedRisks, acknowledgedBy } = this.#settings;
    let info = "";
    try {
      [info = ""] = textsOf([await client.send(`${prefix}:{0}`, ["INFO"])]);
    } catch (error) {
      const failure = this.#failure(error, "INFO");
      if (failure.failure !== "refused" || !acceptedRisks.includes("untold")) throw failure;
    }
    checkServer(info, acceptedRisks, acknowledgedBy);
    this.#wasGood = true;
  }

  #failure(error: unknown, action: string): StoreUnavailableError {
    return hasCode(error, "STORE_UNAVAILABLE")
      ? (error as StoreUnavailableError)
      : valkeyFailure(error, action, this.#settings.prefix);
  }
}

function waitOf({ replicas, timeoutMs, onDisk }: Acknowledgement): string[] {
  return onDisk ? ["WAITAOF", "1", `${replicas}`, `${timeoutMs}`] : ["WAIT", `${replicas}`, `${timeoutMs}`];
}

/** What is missing of an acknowledgement, by the server's answer to WAIT or WAITAOF. */
function lackOf(told: unknown, { replicas, timeoutMs, onDisk }: Acknowledgement): string | undefined {
  const counts = [told].flat().map(Number);
  const [had = 0, onPrimary = 1] = onDisk ? counts.toReversed() : counts;
  if (had >= replicas && onPrimary >= 1) return undefined;
  const who =
    had < replicas ? `${had} of ${replicas} replicas` : "the disk of the primary does not, and the replicas";
  return `${who} had the write after ${timeoutMs} ms`;
}
