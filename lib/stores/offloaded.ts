/** A store that keeps large results in a bucket, and a pointer to each in its record. */
import { createHash } from "node:crypto";
import { errorNameOf } from "../core/ask-verify.ts";
import { BUCKET_CHECKS, BUCKET_MIN_BYTES, type S3Like, withinPatience } from "../core/bucket.ts";
import { type Clock, systemClock } from "../core/clock.ts";
import {
  InvalidOptionError,
  RecordCorruptError,
  ResultNotKeptError,
  StoreUnavailableError,
} from "../core/errors.ts";
import { marksOf } from "../core/front-store.ts";
import { checkOptions, methods } from "../core/option-checks.ts";
import { ENGINE_CHECKS, withDefaults } from "../core/options.ts";
import type { IdempotencyRecord, StoredResult } from "../core/record.ts";
import { pointerText, type ResultPointer, readPointer } from "../core/result-pointer.ts";
import type { EraseAnswer, Erasing, Insertion, Settlement, Store } from "../core/store.ts";
import { ResultStore } from "./result-store.ts";

/** The `S3` of `@aws-sdk/client-s3`, of any version 3. Only `erase` lists and deletes. */
export interface ResultsS3Like extends S3Like {
  listObjectVersions(
    input: {
      Bucket: string;
      Prefix: string;
      KeyMarker?: string | undefined;
      VersionIdMarker?: string | undefined;
    },
    options: { abortSignal?: AbortSignal },
  ): Promise<{
    readonly Versions?:
      | readonly { readonly Key?: string | undefined; readonly VersionId?: string | undefined }[]
      | undefined;
    readonly DeleteMarkers?:
      | readonly { readonly Key?: string | undefined; readonly VersionId?: string | undefined }[]
      | undefined;
    /** Absent on the last page. */
    readonly NextKeyMarker?: string | undefined;
    readonly NextVersionIdMarker?: string | undefined;
  }>;
  deleteObject(
    input: { Bucket: string; Key: string; VersionId: string },
    options: { abortSignal?: AbortSignal },
  ): Promise<unknown>;
}

/** A version of an object, as S3 lists it. */
type ObjectVersion = NonNullable<
  Awaited<ReturnType<ResultsS3Like["listObjectVersions"]>>["Versions"]
>[number];

export interface OffloadedOptions {
  /** Name of the bucket. `undefined`, such as from an unset environment variable, is refused. */
  readonly bucket: string | undefined;
  /** The `S3` of `@aws-sdk/client-s3`; its timeouts and retries apply. */
  readonly client: ResultsS3Like;
  /**
   * The prefix of all object keys, up to 800 characters. Objects under other keys aren't read.
   * @default "onceonly-results/"
   */
  readonly prefix?: string;
  /**
   * A result of at least this size, in bytes of JSON, is stored in the bucket: 1 to 1000000.
   * @default 200000
   */
  readonly minBytes?: number;
  /** @default - the system's clock */
  readonly clock?: Clock;
}

/** No longer result is stored: a replay holds it in memory several times. */
const MAX_BYTES = 64 * 1024 * 1024;

/** The work is done, and its caller waits. A client without timeouts may never respond. */
const WRITE_PATIENCE_MS = 5000;

/** A key of S3 has at most 1024 bytes: the prefix, two hashes of 64, two slashes, and the token. */
const MAX_TOKEN_LENGTH = 90;

/** How many recent writes are remembered, so that a repeated request stores the same text. */
const MAX_REMEMBERED = 100;

/**
 * The same store, with large results in a bucket. The object is written first, under a name with the claim's token, then the
 * record that points to it, in the transaction of a commit too. So an attempt that lost its claim leaves an object that no
 * record points to. Results of steps stay in the store. Over HTTP, the result is the response.
 *
 * Guarantees: a replay returns the stored text, checked by its SHA-256, and a handler never runs again because of the bucket. If
 * the object is gone, a replay throws `ResultNotKeptError`; if the bucket doesn't answer, `StoreUnavailableError`. If a result
 * can't be written within 5 seconds, or half of the invocation's remaining time, or has more than 64 MiB, it's stored as without a bucket, and the process warns
 * (`ONCEONLY_BUCKET`).
 *
 * Objects must live as long as the retention, and only the bucket's lifecycle deletes them: the construct `ResultBucket` sets it.
 * `eraseResult` deletes all objects of the key, in all versions. Put the bucket inside other wrappers, as in
 * `encrypted(offloaded(store, …), { keys })`: the objects are then encrypted too.
 *
 * @throws InvalidOptionError (`INVALID_OPTION`)
 */
export function offloaded<Write>(store: Store<Write>, options: OffloadedOptions): Store<Write> {
  checkOptions({ store }, { store: ENGINE_CHECKS.store }, ["store"]);
  checkOptions(options, CHECKS, ["bucket", "client"]);
  const { sealsResults, redactsResults } = marksOf(store);
  // The bucket would get plain results, or the inner store pointers that it can't redact.
  if (sealsResults || redactsResults) {
    const wrapper = sealsResults ? "encrypted" : "redacted";
    throw new InvalidOptionError(
      "store",
      `must not be ${sealsResults ? "an encrypted" : "a redacted"} store: wrap it the other way round, ${wrapper}(offloaded(store, …), …)`,
      store,
    );
  }
  return new OffloadedStore(
    store,
    withDefaults(options, {
      prefix: "onceonly-results/",
      minBytes: BUCKET_MIN_BYTES,
      clock: systemClock,
    }) as Bucket,
    new Map(),
  );
}

const CHECKS = {
  ...BUCKET_CHECKS,
  client: methods("putObject", "getObject", "listObjectVersions", "deleteObject"),
  clock: methods("now", "sleep"),
};

type Bucket = Required<OffloadedOptions> & { readonly bucket: string };

class OffloadedStore<Write> extends ResultStore<Write> {
  readonly #bucket: Bucket;
  /** By object key: whether the object was written. */
  readonly #writes: Map<string, Promise<boolean>>;

  constructor(store: Store<Write>, bucket: Bucket, writes: Map<string, Promise<boolean>>) {
    super(store, { usesBucket: true });
    this.#bucket = bucket;
    this.#writes = writes;
  }

  inFrontOf(change: (store: Store<Write>) => Store<Write>): Store<Write> {
    return new OffloadedStore(change(this.store), this.#bucket, this.#writes);
  }

  protected override async storedText(
    end: Settlement<Write> | Insertion<Write>,
  ): Promise<string | undefined> {
    const { recordKey, token, result: text, patienceMs = WRITE_PATIENCE_MS } = end;
    const bytes = text === undefined ? 0 : Buffer.byteLength(text);
    if (text === undefined || bytes < this.#bucket.minBytes || bytes > MAX_BYTES) return text;
    const sha256 = sha256Of(text);
    const key = `${this.#prefixOf(recordKey)}${nameOf(token)}/${sha256}`;
    const isWritten = await this.#writeOnce(key, text, Math.min(patienceMs, WRITE_PATIENCE_MS));
    return isWritten ? pointerText({ bucket: this.#bucket.bucket, key, sha256, bytes }) : text;
  }

  protected override asTold(_recordKey: string, record: IdempotencyRecord): IdempotencyRecord {
    const { result } = record;
    const pointer = result?.in === "record" ? readPointer(result.text) : undefined;
    if (!pointer || result?.in !== "record") return record;
    const { bucket, bytes } = pointer;
    return { ...record, result: { in: "item", address: result.text, inBucket: { bucket, bytes } } };
  }

  protected override asStored(record: IdempotencyRecord): IdempotencyRecord {
    const { result } = record;
    if (result?.in !== "item" || !readPointer(result.address)) return record;
    const stored: StoredResult = { in: "record", text: result.address };
    return { ...record, result: stored };
  }

  override async loadResult(address: string): Promise<string | undefined> {
    const pointer = readPointer(address);
    return pointer ? this.#read(pointer) : super.loadResult(address);
  }

  /**
   * Listed first, since a call may claim an expired key again and store a new result. The record is erased before the objects,
   * so that no replay finds a pointer without its object. If the bucket fails, the next call goes on. Objects may outlive the
   * record, which TTL deletes.
   */
  override async erase(erasing: Erasing): Promise<EraseAnswer> {
    const listed = await this.#listAll(this.#prefixOf(erasing.recordKey));
    const answer = await super.erase({ ...erasing, reachesBucket: true });
    if (!answer.erased && answer.state !== "absent") return answer;
    const { bucket: Bucket, client } = this.#bucket;
    for (const { Key = "", VersionId = "null" } of listed)
      await this.#asking("DeleteObject", (abortSignal) =>
        client.deleteObject({ Bucket, Key, VersionId }, { abortSignal }),
      );
    return listed.length > 0 && !answer.erased ? { erased: true } : answer;
  }

  /** Without the scope, which may name a person. */
  #prefixOf(recordKey: string): string {
    return `${this.#bucket.prefix}${sha256Of(recordKey)}/`;
  }

  #writeOnce(key: string, text: string, ms: number): Promise<boolean> {
    const known = this.#writes.get(key);
    if (known) return known;
    const writing = this.#write(key, text, ms);
    this.#writes.set(key, writing);
    for (const oldest of this.#writes.keys()) {
      if (this.#writes.size <= MAX_REMEMBERED) break;
      this.#writes.delete(oldest);
    }
    return writing;
  }

  /** Never throws: the effect may have happened, so the end must be recorded even without the bucket. */
  async #write(Key: string, Body: string, ms: number): Promise<boolean> {
    const { bucket: Bucket, client, clock } = this.#bucket;
    const input = { Bucket, Key, Body, ContentType: "application/octet-stream" };
    try {
      await withinPatience((abortSignal) => client.putObject(input, { abortSignal }), { ms, clock });
      return true;
    } catch (error) {
      process.emitWarning(
        `a result of ${Buffer.byteLength(Body)} bytes can't be written to the bucket ${Bucket}, so it's stored as without a bucket`,
        { code: "ONCEONLY_BUCKET", detail: `${errorNameOf(error)}: grant s3:PutObject on ${Bucket}` },
      );
      return false;
    }
  }

  async #read({ bucket: Bucket, key: Key, sha256, bytes }: ResultPointer): Promise<string> {
    const { bucket, client, prefix } = this.#bucket;
    if (Bucket !== bucket || !Key.startsWith(prefix)) {
      throw new RecordCorruptError(
        `the stored result is in a different bucket (${Bucket}) or under a different prefix than \`offloaded\` is set to, so it isn't read`,
      );
    }
    const text = await this.#asking("GetObject", async (abortSignal) => {
      const answer = await client.getObject({ Bucket, Key }, { abortSignal });
      return answer.Body?.transformToString();
    }).catch((error: StoreUnavailableError) => {
      if (errorNameOf(error.cause) !== "NoSuchKey") throw error;
      throw new ResultNotKeptError(
        bytes,
        `: its object is missing from the bucket ${Bucket} (erased, or the bucket deletes objects before the retention ends)`,
      );
    });
    if (text !== undefined && sha256Of(text) === sha256) return text;
    throw new RecordCorruptError(
      `the result in the bucket ${Bucket} isn't the one that was stored: its hash differs`,
    );
  }

  /** Each version, and what lost attempts and earlier results of the key have left. */
  async #listAll(Prefix: string): Promise<readonly ObjectVersion[]> {
    const { bucket: Bucket, client } = this.#bucket;
    const listed: ObjectVersion[] = [];
    let from: { readonly KeyMarker?: string | undefined; readonly VersionIdMarker?: string | undefined } = {};
    do {
      const page = await this.#asking("ListObjectVersions", (abortSignal) =>
        client.listObjectVersions({ Bucket, Prefix, ...from }, { abortSignal }),
      );
      listed.push(...(page.Versions ?? []), ...(page.DeleteMarkers ?? []));
      from = { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker };
    } while (from.KeyMarker !== undefined);
    return listed;
  }

  async #asking<T>(action: string, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { bucket, clock } = this.#bucket;
    try {
      return await withinPatience(ask, { clock });
    } catch (error) {
      const failure = /^(AccessDenied|NoSuchBucket)$/.test(errorNameOf(error)) ? "refused" : "unreachable";
      throw new StoreUnavailableError(failure, error, errorNameOf(error), {
        action,
        table: `bucket ${bucket}`,
      });
    }
  }
}

/** The tokens of durable executions contain ARNs. */
const nameOf = (token: string): string =>
  token.length > MAX_TOKEN_LENGTH ? sha256Of(token) : token.replace(/[^\w.-]/g, "_");

const sha256Of = (text: string): string => createHash("sha256").update(text).digest("hex");
