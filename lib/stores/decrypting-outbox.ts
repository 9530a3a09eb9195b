/** An outbox for relay and sweeper that decrypts messages encrypted by `encrypted`. */
import type { Outbox, OutboxChange, Taken, Unsent } from "../core/messages/outbox.ts";
import { checkOptions, methods } from "../core/option-checks.ts";
import { type EncryptedOptions, SEALER_CHECKS, sealerOf } from "./encrypted.ts";
import { isSealedMessage, SealedMessages } from "./sealed-messages.ts";

/**
 * The same outbox, but relay and sweeper get decrypted messages that a store with `encrypted(store, { keys, messages: true })`
 * has encrypted. They are decrypted once their commit is taken, which costs one more write per commit. Messages from before the
 * encryption are sent unchanged. A message that can't be decrypted, because its key is gone, is not sent: it is retried, and
 * finally parked.
 *
 * `onceonly outbox` and other operator tools don't need it: with the plain outbox they see where a message goes, but not its
 * content.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function decryptingOutbox(outbox: Outbox, options: Omit<EncryptedOptions, "messages">): Outbox {
  checkOptions({ outbox }, { outbox: methods("readChange", "take", "load") }, ["outbox"]);
  checkOptions(options, SEALER_CHECKS, ["keys"]);
  return new OpenedOutbox(outbox, new SealedMessages(sealerOf(options)));
}

class OpenedOutbox implements Outbox {
  readonly #outbox: Outbox;
  readonly #messages: SealedMessages;
  readonly shards: number;
  readonly keep: Outbox["keep"];
  readonly markSent: Outbox["markSent"];
  readonly park: Outbox["park"];
  readonly leaseSweep: Outbox["leaseSweep"];
  readonly findUnsent: Outbox["findUnsent"];
  readonly readNotes: Outbox["readNotes"];
  readonly replaceNotes: Outbox["replaceNotes"];
  readonly count: Outbox["count"];

  constructor(outbox: Outbox, messages: SealedMessages) {
    this.#outbox = outbox;
    this.#messages = messages;
    this.shards = outbox.shards;
    this.keep = outbox.keep.bind(outbox);
    this.markSent = outbox.markSent.bind(outbox);
    this.park = outbox.park.bind(outbox);
    this.leaseSweep = outbox.leaseSweep.bind(outbox);
    this.findUnsent = outbox.findUnsent.bind(outbox);
    this.readNotes = outbox.readNotes.bind(outbox);
    this.replaceNotes = outbox.replaceNotes.bind(outbox);
    this.count = outbox.count.bind(outbox);
  }

  readChange(change: unknown): OutboxChange | undefined {
    const image = this.#outbox.readChange(change);
    if (!image?.unsent?.messages.some(isSealedMessage)) return image;
    // Decrypting them needs a request, but there is no time for it while reading a change: the commit is taken instead.
    const { unsent: _, ...taken } = image;
    return taken;
  }

  async load(recordKey: string): Promise<Unsent | undefined> {
    const unsent = await this.#outbox.load(recordKey);
    return unsent && this.#opened(unsent);
  }

  async take(...asked: Parameters<Outbox["take"]>): Promise<Taken> {
    const taken = await this.#outbox.take(...asked);
    return taken.state === "taken" ? { ...taken, unsent: await this.#opened(taken.unsent) } : taken;
  }

  async #opened(unsent: Unsent): Promise<Unsent> {
    return { ...unsent, messages: await this.#messages.open(unsent.recordKey, unsent.messages) };
  }
}
