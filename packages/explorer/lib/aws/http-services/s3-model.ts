/** S3 in memory: objects, uploads in parts, conditional writes, and lists. https://docs.aws.amazon.com/AmazonS3/latest/API/ */
import { createHash } from "node:crypto";
import type { Clock } from "onceonly/kit";
import {
  type AwsHttpAnswer,
  type AwsHttpCall,
  AwsHttpError,
  type AwsHttpRequest,
  type AwsHttpService,
} from "./http-service.ts";
import { objectPlace, s3Operation, unchunked } from "./s3-request.ts";
import { S3Uploads } from "./s3-uploads.ts";
import { escaped, XML_TYPE } from "./s3-xml.ts";

interface StoredObject {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly etag: string;
  /** Content type and metadata. */
  readonly headers: Readonly<Record<string, string>>;
}

type Bucket = Map<string, StoredObject>;

const KEPT_HEADERS = /^(content-type|cache-control|content-disposition|content-language|x-amz-meta-.*)$/;

export class S3Model implements AwsHttpService {
  readonly #clock: Pick<Clock, "now">;
  readonly #buckets = new Map<string, Bucket>();
  readonly #uploads = new S3Uploads();
  readonly throttling = { code: "SlowDown", status: 503 };

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  bucket(name: string, objects: Readonly<Record<string, string | Uint8Array>>): void {
    const stored = Object.entries(objects).map(([key, content]): [string, StoredObject] => [
      key,
      storedObject(new Uint8Array(Buffer.from(content)), {}),
    ]);
    this.#buckets.set(name, new Map(stored));
  }

  /** The bytes of all objects of a bucket, by key. */
  objects(bucket: string): ReadonlyMap<string, Uint8Array> {
    return new Map([...(this.#buckets.get(bucket) ?? [])].map(([key, { body }]) => [key, body]));
  }

  get bucketNames(): readonly string[] {
    return [...this.#buckets.keys()];
  }

  read(request: AwsHttpRequest): AwsHttpCall | undefined {
    const { bucket, key } = objectPlace(request.url, (name) => this.#buckets.has(name));
    const operation = s3Operation(request, key);
    const work = operation === undefined ? undefined : this.#operations[operation];
    if (operation === undefined || work === undefined) return undefined;
    const run = () => work(this.#bucket(bucket), key, request, bucket);
    return { operation, target: bucket, input: { Bucket: bucket, Key: key }, run };
  }

  refusal(code: string, status: number, message: string): AwsHttpAnswer {
    const body = `<Error><Code>${code}</Code><Message>${escaped(message)}</Message></Error>`;
    return { status, headers: XML_TYPE, body };
  }

  readonly #operations: Readonly<
    Record<string, (bucket: Bucket, key: string, request: AwsHttpRequest, name: string) => AwsHttpAnswer>
  > = {
    GetObject: (bucket, key) => {
      const { headers, body } = this.#found(bucket, key);
      return { status: 200, headers, body, isStreamed: true };
    },
    HeadObject: (bucket, key) => ({ status: 200, headers: this.#found(bucket, key).headers }),
    HeadBucket: () => ({ status: 200 }),
    PutObject: (bucket, key, { headers, body }) => {
      checkConditions(headers, bucket.get(key));
      return this.#put(bucket, key, storedObject(unchunked(headers, body), keptOf(headers)));
    },
    CreateMultipartUpload: (_, key, { headers }, name) => this.#uploads.create(name, key, keptOf(headers)),
    UploadPart: (_, key, { url, headers, body }, name) =>
      this.#uploads.part(name, key, url, unchunked(headers, body)),
    AbortMultipartUpload: (_, key, { url }, name) => this.#uploads.abort(name, key, url),
    CompleteMultipartUpload: (bucket, key, { url, headers, body: xml }, name) => {
      const check = () => checkConditions(headers, bucket.get(key));
      const object = this.#uploads.complete(name, key, url, xml, check);
      this.#put(bucket, key, object);
      const named = `<Bucket>${escaped(name)}</Bucket><Key>${escaped(key)}</Key><ETag>${object.etag}</ETag>`;
      const body = `<CompleteMultipartUploadResult>${named}</CompleteMultipartUploadResult>`;
      return { status: 200, headers: XML_TYPE, body };
    },
    CopyObject: (bucket, key, { headers }) => {
      const source = decodeURIComponent(headers.get("x-amz-copy-source") ?? "").replace(/^\//, "");
      const [from = "", ...path] = source.split("/");
      const object = this.#bucket(from).get(path.join("/")) ?? noSuchKey(source);
      const { headers: answered } = this.#put(bucket, key, object);
      const body = `<CopyObjectResult><ETag>${object.etag}</ETag></CopyObjectResult>`;
      return { status: 200, headers: { ...answered, ...XML_TYPE }, body };
    },
    DeleteObject: (bucket, key) => {
      bucket.delete(key);
      return { status: 204 };
    },
    ListObjectsV2: (bucket, _, { url }) => {
      const prefix = url.searchParams.get("prefix") ?? "";
      const keys = [...bucket.keys()].filter((key) => key.startsWith(prefix)).sort();
      const contents = keys.map((key) => {
        const { etag, body } = bucket.get(key) as StoredObject;
        const facts = `<ETag>${etag}</ETag><Size>${body.length}</Size>`;
        return `<Contents><Key>${escaped(key)}</Key>${facts}</Contents>`;
      });
      const count = `<KeyCount>${keys.length}</KeyCount><IsTruncated>false</IsTruncated>`;
      const body = `<ListBucketResult>${count}${contents.join("")}</ListBucketResult>`;
      return { status: 200, headers: XML_TYPE, body };
    },
  };

  #bucket(name: string): Bucket {
    const bucket = this.#buckets.get(name);
    if (bucket === undefined) throw new AwsHttpError("NoSuchBucket", 404, `no such bucket: ${name}`);
    return bucket;
  }

  #found(bucket: Bucket, key: string): StoredObject {
    const { headers, ...object } = bucket.get(key) ?? noSuchKey(key);
    const length = { "content-length": String(object.body.length), etag: object.etag };
    const modified = new Date(this.#clock.now()).toUTCString();
    return { ...object, headers: { ...headers, ...length, "last-modified": modified } };
  }

  #put(bucket: Bucket, key: string, object: StoredObject): AwsHttpAnswer {
    bucket.set(key, object);
    return { status: 200, headers: { etag: object.etag } };
  }
}

function storedObject(body: Uint8Array<ArrayBuffer>, headers: StoredObject["headers"]): StoredObject {
  return { body, headers, etag: `"${createHash("md5").update(body).digest("hex")}"` };
}

function keptOf(headers: Headers): StoredObject["headers"] {
  return Object.fromEntries([...headers].filter(([name]) => KEPT_HEADERS.test(name)));
}

/** https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html */
function checkConditions(headers: Headers, present: StoredObject | undefined): void {
  const [ifMatch, ifNoneMatch] = [headers.get("if-match"), headers.get("if-none-match")];
  const isMet = (ifNoneMatch !== "*" || !present) && (ifMatch === null || present?.etag === ifMatch);
  if (!isMet) throw new AwsHttpError("PreconditionFailed", 412, "a condition of the write isn't met");
}

function noSuchKey(key: string): never {
  throw new AwsHttpError("NoSuchKey", 404, `no such object: ${key}`);
}
