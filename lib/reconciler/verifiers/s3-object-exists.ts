/** Asks a bucket whether the abandoned attempt has put its object there. */
import { aFunction, checkOptions, methods, text } from "../../core/option-checks.ts";
import type { AbandonedAttempt, AbandonedRecord, Verify } from "../../core/verify.ts";
import { absent, isMissing, remembers } from "./absence.ts";

/** The part of S3's answer that says what the object is. */
export interface S3ObjectHead {
  readonly ETag?: string | undefined;
  readonly VersionId?: string | undefined;
  readonly ContentLength?: number | undefined;
  readonly Metadata?: Readonly<Record<string, string>> | undefined;
}

/** The `S3` of `@aws-sdk/client-s3`, of any version 3. */
export interface S3HeadLike {
  headObject(
    input: { Bucket: string; Key: string },
    options: { abortSignal: AbortSignal },
  ): Promise<S3ObjectHead>;
}

export interface S3ObjectExistsOptions<
  Input = unknown,
  Previous extends AbandonedRecord = AbandonedAttempt<Input>,
> {
  readonly client: S3HeadLike;
  /** `undefined`, as from an environment variable that is not set, is refused. */
  readonly bucket: string | undefined;
  /** The key of the object that the handler puts: one that this operation alone writes. */
  readonly key: (previous: Previous) => string;
  /** The answer of every caller. */
  readonly result: (head: S3ObjectHead, previous: Previous) => unknown;
  /**
   * For how long after the key was first claimed its object is sure to be there, in seconds, if something deletes such objects: a
   * lifecycle rule, or whoever reads them. Later its absence says nothing, and a person decides.
   * @default - nothing deletes the object
   */
  readonly remembersSeconds?: number;
}

/**
 * A `whenAbandoned` for handlers whose effect is one object. S3 shows at once what is there: the object, and the effect
 * happened; or none, and the handler runs. The role needs `s3:GetObject`, and `s3:ListBucket`: without the latter S3
 * refuses to say that there is no object, and the key is held.
 * @throws InvalidOptionError (`INVALID_OPTION`) at once.
 */
export function s3ObjectExists<Input = unknown, Previous extends AbandonedRecord = AbandonedAttempt<Input>>(
  options: S3ObjectExistsOptions<Input, Previous>,
): Verify<Input, Previous> {
  checkOptions(
    options,
    {
      client: methods("headObject"),
      bucket: text(255),
      key: aFunction,
      result: aFunction,
      remembersSeconds: remembers,
    },
    ["client", "bucket", "key", "result"],
  );
  const { client, bucket, key, result, remembersSeconds } = options;
  const asked = `HeadObject in ${bucket}`;
  return async function askForObject(previous: Previous) {
    const input = { Bucket: bucket as string, Key: key(previous) };
    try {
      const head = await client.headObject(input, { abortSignal: previous.signal });
      return { outcome: "happened", result: result(head, previous), evidence: { asked, answered: "200" } };
    } catch (error) {
      if (!isMissing(error, "NotFound", "NoSuchKey")) throw error;
      return absent(previous, { remembersSeconds }, { asked, answered: "404" });
    }
  };
}
