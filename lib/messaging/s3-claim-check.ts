/** Stores bodies that are too large for a message in a bucket: a claim check travels instead. */
import { BUCKET_CHECKS, BUCKET_MIN_BYTES, type S3Like, withinPatience } from "../core/bucket.ts";
import { BodyUnavailableError, PayloadInvalidError } from "../core/errors.ts";
import { bodyText } from "../core/messages/message-text.ts";
import { checkOptions } from "../core/option-checks.ts";
import {
  type ClaimCheck,
  claimCheckOf,
  claimCheckText,
  findClaimCheck,
  SIZE_ATTRIBUTE,
  sha256Of,
} from "./claim-check.ts";

export interface S3ClaimCheckOptions {
  /** Name of the bucket. `undefined`, such as from an unset environment variable, is refused. */
  readonly bucket: string | undefined;
  /**
   * The `S3` of `@aws-sdk/client-s3`; its timeouts and retries apply. A request without a response times out after 30
   * seconds.
   */
  readonly client: S3Like;
  /**
   * The prefix of all object keys, up to 800 characters: objects under other keys aren't read. With one prefix per
   * tenant, IAM can keep tenants apart.
   * @default "onceonly/"
   */
  readonly prefix?: string;
  /**
   * A body of at least this size, in bytes, is stored in the bucket: 1 to 1000000, counted as a string in JSON. The
   * default fits into every destination and every table item.
   * @default 200000
   */
  readonly minBytes?: number;
}

/** A message before check-in, for a commit or a producer. */
export interface UncheckedMessage {
  readonly body: unknown;
  readonly bus?: string | undefined;
  readonly attributes?: Readonly<Record<string, string | number>> | undefined;
}

const MAX_ATTRIBUTES = 8;

/** More at the same time would only use more memory. */
const AT_ONCE = 10;

/**
 * Stores message bodies in a bucket, each under its hash. Call `checkIn` before a commit or a send. The consumer uses
 * `idempotentBatch` with `claimCheck`, or `open`.
 *
 * Guarantees: a message never runs with a body other than the one checked in, nor without a body. Checking in the same
 * body again writes the same object, so repeated attempts leave one object, which lives longer if the bucket deletes by
 * age. onceonly never deletes objects: let the bucket do so, once no copy of the message can come any more.
 */
export class S3ClaimCheck {
  readonly #bucket: string;
  readonly #client: S3Like;
  readonly #prefix: string;
  readonly #minBytes: number;

  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: S3ClaimCheckOptions) {
    checkOptions(options, BUCKET_CHECKS, ["bucket", "client"]);
    this.#bucket = options.bucket!;
    this.#client = options.client;
    this.#prefix = options.prefix ?? "onceonly/";
    this.#minBytes = options.minBytes ?? BUCKET_MIN_BYTES;
  }

  /**
   * Returns the same messages with claim checks in place of large bodies, once the bodies are in the bucket
   * (`s3:PutObject`). Such a message can have 8 other attributes. Events for a bus stay unchanged, because rules match their
   * detail.
   * @throws PayloadInvalidError (`PAYLOAD_INVALID`) before anything is written, BodyUnavailableError (`BODY_UNAVAILABLE`)
   */
  async checkIn<Given extends UncheckedMessage>(messages: readonly Given[]): Promise<Given[]> {
    if (!Array.isArray(messages)) throw new PayloadInvalidError("`messages` must be an array");
    const bodies = new Map<string, string>();
    const checked = (messages as readonly Given[]).map((message, index) =>
      this.#replace(`messages[${index}]`, message, bodies),
    );
    const left = [...bodies];
    const writers = Array.from({ length: AT_ONCE }, async () => {
      for (let next = left.shift(); next; next = left.shift()) await this.#put(...next);
    });
    // A write that continued after the response could be frozen with the process.
    const failed = (await Promise.allSettled(writers)).find(({ status }) => status === "rejected");
    if (failed) throw (failed as PromiseRejectedResult).reason;
    return checked;
  }

  /**
   * Returns the body if `text` is one of our claim checks, also inside an SNS notification. Returns any other text
   * unchanged. It reads only objects in this bucket, under this prefix (`s3:GetObject`).
   * @throws BodyUnavailableError (`BODY_UNAVAILABLE`) for a claim check of another bucket, and for a body that is gone,
   * or differs from the one checked in.
   */
  async open(text: string, signal?: AbortSignal): Promise<string> {
    const found = findClaimCheck(text);
    return found ? found.withBody(await this.#get(found.check, signal)) : text;
  }

  #replace<Given extends UncheckedMessage>(
    where: string,
    message: Given,
    bodies: Map<string, string>,
  ): Given {
    const { body, bus, attributes } = Object(message) as Given;
    if (bus !== undefined || body === undefined) return message;
    const text = bodyText(where, body);
    if (Buffer.byteLength(JSON.stringify(text)) < this.#minBytes) return message;
    const names = Object.keys(attributes ?? {});
    if (names.length > MAX_ATTRIBUTES || names.includes(SIZE_ATTRIBUTE)) {
      throw new PayloadInvalidError(
        `${where}: has ${names.length} attributes, but only ${MAX_ATTRIBUTES} fit if the body is in a bucket, and \`${SIZE_ATTRIBUTE}\` is reserved`,
      );
    }
    const check = claimCheckOf(text, this.#bucket, this.#prefix);
    bodies.set(check.key, text);
    const size = { [SIZE_ATTRIBUTE]: Buffer.byteLength(text) };
    return { ...message, body: claimCheckText(check), attributes: { ...attributes, ...size } };
  }

  async #put(key: string, body: string): Promise<void> {
    const input = { Bucket: this.#bucket, Key: key, Body: body, ContentType: "text/plain; charset=utf-8" };
    try {
      await withinPatience((abortSignal) => this.#client.putObject(input, { abortSignal }));
    } catch (cause) {
      throw new BodyUnavailableError(
        `can't be stored in the bucket (${nameOf(cause)}): grant s3:PutObject`,
        cause,
      );
    }
  }

  async #get({ bucket, key, sha256 }: ClaimCheck, signal: AbortSignal | undefined): Promise<string> {
    if (bucket !== this.#bucket || key !== this.#prefix + sha256) {
      throw new BodyUnavailableError(
        "is in a different bucket or under a different prefix than `S3ClaimCheck` is set to, so it isn't read",
      );
    }
    let body: string | undefined;
    try {
      body = await withinPatience(
        async (abortSignal) => {
          const answer = await this.#client.getObject({ Bucket: bucket, Key: key }, { abortSignal });
          return answer.Body?.transformToString();
        },
        { signal },
      );
    } catch (cause) {
      throw new BodyUnavailableError(
        `can't be read from the bucket (${nameOf(cause)}): restore the object, or grant s3:GetObject`,
        cause,
      );
    }
    if (body !== undefined && sha256Of(body) === sha256) return body;
    throw new BodyUnavailableError("isn't the one that was stored: its hash differs");
  }
}

function nameOf(cause: unknown): string {
  return cause instanceof Error ? cause.name : "an unknown error";
}
