/** Keeps bodies in a bucket that are too large for a message: a claim check travels in their place. */
import { askWithin } from "../core/answer-within.ts";
import { systemClock } from "../core/clock.ts";
import { BodyUnavailableError, PayloadInvalidError } from "../core/errors.ts";
import { bodyText } from "../core/messages/prepare-message.ts";
import { type Check, checkOptions, methods } from "../core/option-checks.ts";
import {
  type ClaimCheck,
  claimCheckOf,
  claimCheckText,
  findClaimCheck,
  SIZE_ATTRIBUTE,
  sha256Of,
} from "./claim-check.ts";

/** The `S3` of `@aws-sdk/client-s3`, of any version 3. */
export interface S3Like {
  putObject(
    input: { Bucket: string; Key: string; Body: string; ContentType: string },
    options: { abortSignal?: AbortSignal },
  ): Promise<unknown>;
  getObject(
    input: { Bucket: string; Key: string },
    options: { abortSignal?: AbortSignal },
  ): Promise<{ readonly Body?: { transformToString(): Promise<string> } | undefined }>;
}

export interface S3BodiesOptions {
  /** Name of the bucket. `undefined`, as from an environment variable that is not set, is refused. */
  readonly bucket: string | undefined;
  /** The `S3` of `@aws-sdk/client-s3`; its timeouts and retries apply. Without an answer in 30 seconds a request is given up. */
  readonly client: S3Like;
  /**
   * Begins the keys of all objects, up to 900 characters: objects under other keys are not read. With a prefix for each
   * tenant IAM can keep tenants apart.
   * @default "onceonly/"
   */
  readonly prefix?: string;
  /**
   * The size in bytes, 1 to 1000000, from which a body goes to the bucket, counted as a string in JSON. The default fits into
   * every destination and every item of a table.
   * @default 200000
   */
  readonly minBytes?: number;
}

/** A message before it is checked in: of a commit or a producer. */
export interface UncheckedMessage {
  readonly body: unknown;
  readonly bus?: string | undefined;
  readonly attributes?: Readonly<Record<string, string | number>> | undefined;
}

const MAX_ATTRIBUTES = 8;

/** More would only take each other's memory. */
const AT_ONCE = 10;

const CHECKS: Readonly<Record<keyof S3BodiesOptions, Check>> = {
  bucket: [
    "must be the name of a bucket",
    (value) => typeof value === "string" && /^(?!undefined$|null$)[a-z\d][a-z\d.-]{1,61}[a-z\d]$/.test(value),
  ],
  client: methods("putObject", "getObject"),
  prefix: [
    "must be text of at most 900 characters: letters, digits and !-_.*'()/",
    (value) => typeof value === "string" && /^[\w!.*'()/-]{0,900}$/.test(value),
  ],
  minBytes: [
    "must be a whole number of bytes from 1 to 1000000",
    (value) => Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1_000_000,
  ],
};

/**
 * Keeps bodies of messages in a bucket, each under its hash. `checkIn` comes before a commit or a send. At the other end
 * stands `idempotentBatch` with `bodies`, or `open`.
 *
 * Promises: a message is never run with another body than the one that was checked in, nor without a body. Checking the
 * same body in again writes the same object: repeated attempts leave one object, which lives longer where the bucket deletes
 * by age. Nobody else deletes: let the bucket do so, once no copy of the message can come any more.
 */
export class S3Bodies {
  readonly #bucket: string;
  readonly #client: S3Like;
  readonly #prefix: string;
  readonly #minBytes: number;

  /** @throws InvalidOptionError (`INVALID_OPTION`) */
  constructor(options: S3BodiesOptions) {
    checkOptions(options, CHECKS, ["bucket", "client"]);
    this.#bucket = options.bucket!;
    this.#client = options.client;
    this.#prefix = options.prefix ?? "onceonly/";
    this.#minBytes = options.minBytes ?? 200_000;
  }

  /**
   * Answers with the same messages, in which claim checks stand for large bodies, once the bodies are in the bucket
   * (`s3:PutObject`). Such a message takes 8 attributes of its own. Events for a bus stay as they are, since rules match
   * their detail.
   * @throws PayloadInvalidError (`PAYLOAD_INVALID`) before anything is written, BodyUnavailableError (`BODY_UNAVAILABLE`)
   */
  async checkIn<Given extends UncheckedMessage>(messages: readonly Given[]): Promise<Given[]> {
    if (!Array.isArray(messages)) throw new PayloadInvalidError("the messages must be an array");
    const bodies = new Map<string, string>();
    const checked = (messages as readonly Given[]).map((message, index) =>
      this.#replace(`messages[${index}]`, message, bodies),
    );
    const left = [...bodies];
    const writers = Array.from({ length: AT_ONCE }, async () => {
      for (let next = left.shift(); next; next = left.shift()) await this.#put(...next);
    });
    // A write that still ran after the answer could be frozen with the process.
    const failed = (await Promise.allSettled(writers)).find(({ status }) => status === "rejected");
    if (failed) throw (failed as PromiseRejectedResult).reason;
    return checked;
  }

  /**
   * Answers with the body for which a text stands, if the text is a claim check of ours, also within a notification of
   * SNS. Answers with any other text as it is. Only objects in this bucket, under this prefix, are read
   * (`s3:GetObject`).
   * @throws BodyUnavailableError (`BODY_UNAVAILABLE`) for a claim check of another bucket, and for a body that is gone, or
   * that is not what was checked in.
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
        `${where}: has ${names.length} attributes, ${MAX_ATTRIBUTES} are possible where the body is in a bucket, and \`${SIZE_ATTRIBUTE}\` is none of them`,
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
        `cannot be kept in the bucket (${nameOf(cause)}): grant s3:PutObject`,
        cause,
      );
    }
  }

  async #get({ bucket, key, sha256 }: ClaimCheck, signal: AbortSignal | undefined): Promise<string> {
    if (bucket !== this.#bucket || key !== this.#prefix + sha256) {
      throw new BodyUnavailableError(
        "is in another bucket, or under another prefix, than `S3Bodies` was given: it is not read",
      );
    }
    let body: string | undefined;
    try {
      body = await withinPatience(async (abortSignal) => {
        const answer = await this.#client.getObject({ Bucket: bucket, Key: key }, { abortSignal });
        return answer.Body?.transformToString();
      }, signal);
    } catch (cause) {
      throw new BodyUnavailableError(
        `cannot be read from the bucket (${nameOf(cause)}): put it back, or grant s3:GetObject`,
        cause,
      );
    }
    if (body !== undefined && sha256Of(body) === sha256) return body;
    throw new BodyUnavailableError("is not what was checked in: its hash is another one");
  }
}

/** Longer than an object of some megabytes takes. A client without timeouts may never answer. */
const PATIENCE_MS = 30_000;

function withinPatience<T>(ask: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
  const late = () => new DOMException("no answer in 30 s", "TimeoutError");
  return askWithin(systemClock, PATIENCE_MS, ask, late, signal);
}

function nameOf(cause: unknown): string {
  return cause instanceof Error ? cause.name : "an unknown error";
}
