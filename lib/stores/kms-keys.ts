/** Data keys from AWS KMS. */
import { StoreUnavailableError } from "../core/errors.ts";
import { type Check, checkOptions, methods } from "../core/option-checks.ts";
import type { DataKey, DataKeys, EncryptionContext } from "./data-keys.ts";

/** The `KMS` client of `@aws-sdk/client-kms`, any version 3. */
export interface KmsLike {
  generateDataKey(input: {
    KeyId: string;
    KeySpec: "AES_256";
    EncryptionContext: Record<string, string>;
  }): Promise<{
    readonly Plaintext?: Uint8Array | undefined;
    readonly CiphertextBlob?: Uint8Array | undefined;
  }>;
  decrypt(input: {
    CiphertextBlob: Uint8Array;
    EncryptionContext: Record<string, string>;
  }): Promise<{ readonly Plaintext?: Uint8Array | undefined }>;
}

export interface KmsKeysOptions {
  /** The `KMS` client of `@aws-sdk/client-kms`; its timeouts and retries apply. */
  readonly client: KmsLike;
  /**
   * Id, ARN or alias of a symmetric key; `undefined`, for example from an unset environment variable, is refused. A function can
   * choose a key per tenant: deleting that key makes all of the tenant's results unreadable.
   */
  readonly keyId: string | undefined | ((context: EncryptionContext) => string);
}

const isKeyId = (value: unknown): boolean =>
  typeof value === "string" && /^[\w/:-]{1,2048}$/.test(value) && !/^(undefined|null)$/.test(value);

const CHECKS: Readonly<Record<keyof KmsKeysOptions, Check>> = {
  client: methods("generateDataKey", "decrypt"),
  keyId: [
    "must be the id, ARN or alias of a KMS key, or a function that returns one",
    (value) => isKeyId(value) || typeof value === "function",
  ],
};

/** KMS no longer has a key that can decrypt this one. */
const GONE = /^(NotFound|Disabled|KMSInvalidState)Exception$/;
/** KMS would refuse the request again. */
const REFUSED =
  /^(AccessDenied|NotFound|Disabled|KMSInvalidState|InvalidKeyUsage|InvalidArn|InvalidCiphertext|IncorrectKey|Validation|UnrecognizedClient|InvalidGrantToken)/;

/**
 * Data keys from AWS KMS for `encrypted`. The encryption context of each request is `{ operation, scope }`: CloudTrail logs it,
 * and policies can require it (`kms:EncryptionContext:scope`). The role needs `kms:GenerateDataKey` to store results, and
 * `kms:Decrypt` to replay them.
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function kmsKeys(options: KmsKeysOptions): DataKeys {
  checkOptions(options, CHECKS, ["client", "keyId"]);
  const { client, keyId } = options;
  return {
    async generate(context): Promise<DataKey> {
      const KeyId = typeof keyId === "function" ? keyId(context) : keyId;
      // KMS would only say that it is invalid.
      if (!isKeyId(KeyId)) throw refused("GenerateDataKey", new TypeError("`keyId` returned no key id"));
      const answer = await asked("GenerateDataKey", () =>
        client.generateDataKey({ KeyId: `${KeyId}`, KeySpec: "AES_256", EncryptionContext: inKms(context) }),
      );
      const { Plaintext: plain, CiphertextBlob: encrypted } = answer;
      if (!plain || !encrypted)
        throw new StoreUnavailableError("unreachable", new Error("KMS returned no key"));
      return { plain, encrypted };
    },
    async decrypt(encrypted, context): Promise<Uint8Array | undefined> {
      const request = { CiphertextBlob: encrypted, EncryptionContext: inKms(context) };
      try {
        return (await asked("Decrypt", () => client.decrypt(request))).Plaintext;
      } catch (error) {
        const { name } = Object((error as StoreUnavailableError).cause) as Partial<Error>;
        if (GONE.test(`${name}`)) return undefined;
        throw error;
      }
    },
  };
}

/** KMS doesn't accept empty strings. */
const inKms = ({ operation, scope }: EncryptionContext): Record<string, string> => ({
  operation,
  ...(scope !== "" && { scope }),
});

async function asked<T>(action: string, request: () => Promise<T>): Promise<T> {
  try {
    return await request();
  } catch (error) {
    const { name } = Object(error) as Partial<Error>;
    if (REFUSED.test(`${name}`)) throw refused(action, error);
    const isThrottled = /Throttl|LimitExceeded/.test(`${name}`);
    throw new StoreUnavailableError(isThrottled ? "throttled" : "unreachable", error, name, {
      action,
      table: "AWS KMS",
    });
  }
}

const refused = (action: string, cause: unknown) =>
  new StoreUnavailableError("refused", cause, undefined, { action, table: "AWS KMS" });
