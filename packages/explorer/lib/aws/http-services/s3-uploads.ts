/**
 * Uploads in parts, which clients of S3 choose for streams. An object is there once its upload is complete.
 * https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html
 */
import { createHash } from "node:crypto";
import { type AwsHttpAnswer, AwsHttpError } from "./http-service.ts";
import { escaped, XML_TYPE } from "./s3-xml.ts";

/** S3 accepts smaller parts only at the end. */
const MIN_PART_BYTES = 5 * 1024 * 1024;
const MAX_PARTS = 10_000;

interface Part {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly md5: string;
}

interface Upload {
  readonly place: string;
  /** Content type and metadata of the object. */
  readonly headers: Readonly<Record<string, string>>;
  readonly parts: Map<number, Part>;
}

interface CompletedUpload {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

export class S3Uploads {
  readonly #uploads = new Map<string, Upload>();
  #count = 0;

  create(bucket: string, key: string, headers: Upload["headers"]): AwsHttpAnswer {
    const id = `upload-${++this.#count}`;
    this.#uploads.set(id, { place: placeOf(bucket, key), headers, parts: new Map() });
    const named = `<Bucket>${escaped(bucket)}</Bucket><Key>${escaped(key)}</Key>`;
    const body = `<InitiateMultipartUploadResult>${named}<UploadId>${id}</UploadId></InitiateMultipartUploadResult>`;
    return { status: 200, headers: XML_TYPE, body };
  }

  part(bucket: string, key: string, url: URL, body: Uint8Array<ArrayBuffer>): AwsHttpAnswer {
    const { parts } = this.#found(bucket, key, url);
    const number = Number(url.searchParams.get("partNumber"));
    if (!Number.isInteger(number) || number < 1 || number > MAX_PARTS) {
      throw new AwsHttpError("InvalidArgument", 400, `a part has a number from 1 to ${MAX_PARTS}`);
    }
    const md5 = md5Of(body).toString("hex");
    parts.set(number, { body, md5 });
    return { status: 200, headers: { etag: `"${md5}"` } };
  }

  abort(bucket: string, key: string, url: URL): AwsHttpAnswer {
    this.#found(bucket, key, url);
    this.#uploads.delete(idIn(url));
    return { status: 204 };
  }

  /** @param check is asked before the upload ends, since a refused upload can be completed later */
  complete(bucket: string, key: string, url: URL, xml: Uint8Array, check: () => void): CompletedUpload {
    const { parts, headers } = this.#found(bucket, key, url);
    const named = partsIn(new TextDecoder().decode(xml));
    if (named.length === 0) throw new AwsHttpError("MalformedXML", 400, "the request names no part");
    const chosen = named.map(({ number, md5 }, index) => {
      if (index > 0 && number <= (named[index - 1]?.number ?? 0)) {
        throw new AwsHttpError("InvalidPartOrder", 400, "the parts are not in the order of their numbers");
      }
      const part = parts.get(number);
      if (part?.md5 !== md5) throw new AwsHttpError("InvalidPart", 400, `there is no such part ${number}`);
      return part;
    });
    if (chosen.slice(0, -1).some(({ body }) => body.length < MIN_PART_BYTES)) {
      throw new AwsHttpError("EntityTooSmall", 400, "a part before the last one is smaller than 5 MiB");
    }
    check();
    this.#uploads.delete(idIn(url));
    const body = new Uint8Array(Buffer.concat(chosen.map((part) => part.body)));
    const digests = Buffer.concat(chosen.map(({ md5 }) => Buffer.from(md5, "hex")));
    return { body, headers, etag: `"${md5Of(digests).toString("hex")}-${chosen.length}"` };
  }

  #found(bucket: string, key: string, url: URL): Upload {
    const upload = this.#uploads.get(idIn(url));
    if (upload?.place === placeOf(bucket, key)) return upload;
    throw new AwsHttpError(
      "NoSuchUpload",
      404,
      `there is no such upload of ${key}: it is complete or aborted`,
    );
  }
}

const idIn = (url: URL) => url.searchParams.get("uploadId") ?? "";
const placeOf = (bucket: string, key: string) => `${bucket}/${key}`;
const md5Of = (bytes: Uint8Array) => createHash("md5").update(bytes).digest();

function partsIn(xml: string): readonly { readonly number: number; readonly md5: string }[] {
  return [...xml.matchAll(/<Part>([\s\S]*?)<\/Part>/g)].map(([, part = ""]) => ({
    number: Number(/<PartNumber>(\d+)<\/PartNumber>/.exec(part)?.[1]),
    md5: /<ETag>(?:"|&quot;)?([\da-f]+)/.exec(part)?.[1] ?? "",
  }));
}
