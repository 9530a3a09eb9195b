/** Checks in a bucket whether the abandoned attempt has put its object there. */
import { aFunction, checkOptions, methods, text } from "../../core/option-checks.ts";
import type { AbandonedAttempt, AbandonedRecord, Verify } from "../../core/verify.ts";
import { absent, isMissing, remembers } from "./absence.ts";

/** The fields of S3's response that describe the object. */
export interface S3ObjectHead {
  readonly ETag?: string | undefined;
  readonly VersionId?: string | undefined;
  readonly ContentLength?: number | undefined;
  readonly Metadata?: Readonly<Record<string, string>> | undefined;
}

/** The `S3` client of `@aws-sdk/client-s3`, any version 3. */
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
  /** `undefined`, for example from an unset environment variable, is refused. */
  readonly bucket: string | undefined;
  /** The key of the object that the handler puts: only this operation may write it. */
  readonly key: (previous: Previous) => string;
  /** The response that every caller gets. */
  readonly result: (head: S3ObjectHead, previous: Previous) => unknown;
  /**
   * How long after the key was first claimed its object is sure to be there, in seconds, if something deletes such objects: a
   * lifecycle rule, or their readers. After that, absence proves nothing, and an operator decides.
   * @default - nothing deletes the object
   */
  readonly remembersSeconds?: number;
}

/**
 * A `whenAbandoned` for handlers whose effect is one object. S3 reads are consistent: if the object is there, the effect
 * happened; if not, the handler runs. The role needs `s3:GetObject`, and `s3:ListBucket`: without the latter, S3 refuses to say
 * that there is no object, and the key is held.
 * @throws InvalidOptionError (`INVALID_OPTION`) immediately.
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
      return {
        outcome: "happened",
        result: await result(head, previous),
        evidence: { asked, answered: "200" },
      };
    } catch (error) {
      if (!isMissing(error, "NotFound", "NoSuchKey")) throw error;
      return absent(previous, { remembersSeconds }, { asked, answered: "404" });
    }
  };
}
