/** Reads requests to S3: bucket, key, operation, and bodies in chunks. Pure. */
import type { AwsHttpRequest } from "./http-service.ts";

/** Parts of a query that ask for something else than the object or the list. */
const SUBRESOURCES = ["acl", "tagging", "delete", "policy", "versions", "attributes"];

/** Uploads in parts, by method. A copy as a part is not simulated, nor are lists of uploads and of parts. */
const UPLOADS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  uploads: { POST: "CreateMultipartUpload" },
  uploadId: { PUT: "UploadPart", POST: "CompleteMultipartUpload", DELETE: "AbortMultipartUpload" },
};
const HOST = /^(?:(.+)\.)?s3[.-](?:[\w.-]+\.)?amazonaws\.com/;

/** Reads both URL styles. With an endpoint other than AWS's, the host names a bucket only if that bucket is known. */
export function objectPlace(
  url: URL,
  isBucket: (name: string) => boolean,
): { readonly bucket: string; readonly key: string } {
  const path = decodeURIComponent(url.pathname.slice(1));
  const [first = "", ...rest] = path.split("/");
  const host = HOST.exec(url.hostname);
  const [label = ""] = url.hostname.split(".");
  const inHost = host === null ? (isBucket(label) && !isBucket(first) ? label : undefined) : host[1];
  return inHost === undefined ? { bucket: first, key: rest.join("/") } : { bucket: inHost, key: path };
}

/** `undefined` for operations that are not simulated, such as those of access lists and tags. */
export function s3Operation({ method, url, headers }: AwsHttpRequest, key: string): string | undefined {
  if (SUBRESOURCES.some((name) => url.searchParams.has(name))) return undefined;
  const ofUpload = Object.keys(UPLOADS).find((name) => url.searchParams.has(name));
  if (ofUpload !== undefined) {
    return headers.has("x-amz-copy-source") ? undefined : UPLOADS[ofUpload]?.[method];
  }
  if (key === "") {
    if (method === "HEAD") return "HeadBucket";
    return method === "GET" && url.searchParams.get("list-type") === "2" ? "ListObjectsV2" : undefined;
  }
  switch (method) {
    case "GET":
      return "GetObject";
    case "HEAD":
      return "HeadObject";
    case "PUT":
      return headers.has("x-amz-copy-source") ? "CopyObject" : "PutObject";
    case "DELETE":
      return "DeleteObject";
    default:
      return undefined;
  }
}

/**
 * The body without the chunk sizes and signatures that streams have.
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
 */
export function unchunked(headers: Headers, body: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  if (!headers.get("x-amz-content-sha256")?.startsWith("STREAMING-")) return body;
  const bytes = Buffer.from(body);
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf("\r\n", at);
    const size = end < 0 ? 0 : Number.parseInt(bytes.toString("latin1", at, end), 16);
    if (!(size > 0)) return new Uint8Array(Buffer.concat(chunks));
    chunks.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
