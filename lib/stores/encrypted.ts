/** A store that encrypts results before they leave this process. */
import { type Clock, systemClock } from "../core/clock.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { marksOf } from "../core/front-store.ts";
import { checkOptions, methods, seconds } from "../core/option-checks.ts";
import { ENGINE_CHECKS, withDefaults } from "../core/options.ts";
import type { Store } from "../core/store.ts";
import type { DataKeys } from "./data-keys.ts";
import { EncryptedStore } from "./encrypted-store.ts";
import { SealedMessages } from "./sealed-messages.ts";
import { Sealer } from "./sealer.ts";

export interface EncryptedOptions {
  /** Gives data keys, such as `kmsKeys({ client: new KMS(), keyId })`. */
  readonly keys: DataKeys;
  /**
   * Whether messages that wait in the outbox are encrypted too: their bodies, attributes and keys. Then relay and sweeper take
   * `openedOutbox(outbox, { keys })`. Those without the keys send no sealed message: they try it again, and park it in the end.
   * @default false
   */
  readonly messages?: boolean;
  /**
   * How long a data key is used for new runs, in seconds: up to 3600, and longer while the key service is down. Each operation and
   * scope has a key of its own. For that time a process can replay although the key service does not answer, or its key was disabled.
   * @default 300
   */
  readonly reuseKeysSeconds?: number;
  /** @default - the system's clock */
  readonly clock?: Clock;
}

/** @internal Of what opens as well as of what seals. */
export const SEALER_CHECKS = {
  keys: methods("generate", "decrypt"),
  reuseKeysSeconds: seconds(0, 3600),
  clock: methods("now", "sleep"),
};

/** @internal */
export function sealerOf(options: Omit<EncryptedOptions, "messages">): Sealer {
  const { keys, reuseKeysSeconds, clock } = withDefaults(options, {
    reuseKeysSeconds: 300,
    clock: systemClock,
  });
  return new Sealer(keys, reuseKeysSeconds, clock);
}

/**
 * The same store, with results and errors of handlers encrypted by AES-256-GCM, steps' results too. Each is bound to its record,
 * operation and scope. An attempt gets its data key before the handler runs, and keeps it: a key service that is late or
 * down meanwhile makes nothing run again. Once the key of the key service is deleted or disabled, a replay throws
 * `ResultNotKeptError`, and nothing runs again. Records from before the encryption are read.
 *
 * Not encrypted are hashes, times, names of steps and evidence, and without `messages` the messages that wait in the outbox. A sealed
 * result takes a third more room, and about 300 bytes. Put `cached` in front of it, not behind.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function encrypted<Write>(store: Store<Write>, options: EncryptedOptions): Store<Write> {
  checkOptions({ store }, { store: ENGINE_CHECKS.store }, ["store"]);
  // It would be given sealed texts, and could redact nothing.
  if (marksOf(store).redactsResults)
    throw new InvalidOptionError(
      "store",
      "must not be redacted yet: put `redacted` in front of `encrypted`",
      store,
    );
  const { messages, ...ofKeys } = options;
  checkOptions(options, { ...SEALER_CHECKS, messages: ENGINE_CHECKS.longRetention }, ["keys"]);
  const sealer = sealerOf(ofKeys);
  return new EncryptedStore(store, sealer, messages ? new SealedMessages(sealer) : undefined);
}
