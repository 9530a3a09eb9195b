/** A store that encrypts results before they leave this process. */
import { type Clock, systemClock } from "../core/clock.ts";
import { InvalidOptionError } from "../core/errors.ts";
import { marksOf } from "../core/front-store.ts";
import { checkOptions, methods, seconds } from "../core/option-checks.ts";
import { ENGINE_CHECKS } from "../core/options.ts";
import type { Store } from "../core/store.ts";
import { withDefaults } from "../core/with-defaults.ts";
import type { DataKeys } from "./data-keys.ts";
import { EncryptedStore } from "./encrypted-store.ts";
import { SealedMessages } from "./sealed-messages.ts";
import { Sealer } from "./sealer.ts";

export interface EncryptedOptions {
  /** The source of data keys, such as `kmsKeys({ client: new KMS(), keyId })`. */
  readonly keys: DataKeys;
  /**
   * Whether to encrypt waiting outbox messages too: their bodies, attributes and keys. Relay and sweeper then need
   * `decryptingOutbox(outbox, { keys })`. Without the keys they don't send sealed messages: they retry them, and finally park
   * them.
   * @default false
   */
  readonly messages?: boolean;
  /**
   * How long a data key is used for new runs, in seconds: up to 3600, and longer while the key service is down. Each operation
   * and scope has a separate key. During that time a process can replay even if the key service doesn't answer, or its key was
   * disabled.
   * @default 300
   */
  readonly reuseKeysSeconds?: number;
  /** @default - the system's clock */
  readonly clock?: Clock;
}

/** @internal The options shared by sealing and opening. */
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
 * The same store, with handlers' results and errors, including step results, encrypted with AES-256-GCM. Each is bound to its
 * record, operation and scope. An attempt gets its data key before the handler runs, and keeps it, so a slow or unavailable key
 * service never makes anything run again. Once the service's key is deleted or disabled, a replay throws `ResultNotKeptError`,
 * and nothing runs again. Records from before the encryption can still be read.
 *
 * Not encrypted: hashes, times, step names and evidence, and, without `messages`, messages waiting in the outbox. A sealed
 * result is a third larger, plus about 300 bytes. Wrap this store in `cached`, not the other way round.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function encrypted<Write>(store: Store<Write>, options: EncryptedOptions): Store<Write> {
  checkOptions({ store }, { store: ENGINE_CHECKS.store }, ["store"]);
  // It would get sealed texts, and couldn't redact anything.
  if (marksOf(store).redactsResults)
    throw new InvalidOptionError(
      "store",
      "must not be a redacted store: wrap it the other way round, redacted(encrypted(store))",
      store,
    );
  const { messages, ...ofKeys } = options;
  checkOptions(options, { ...SEALER_CHECKS, messages: ENGINE_CHECKS.allowLongRetention }, ["keys"]);
  const sealer = sealerOf(ofKeys);
  return new EncryptedStore(store, sealer, messages ? new SealedMessages(sealer) : undefined);
}
