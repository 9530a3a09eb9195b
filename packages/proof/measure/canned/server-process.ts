// The canned DynamoDB's process, separate so its processor time isn't counted with its callers'. It receives the
// responses, and reports the port it listens on. From then on it reports how often each operation was called since
// its last report.
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { crc32 } from "node:zlib";
import { answerParent } from "../../helper-process.ts";
import { answersOf } from "./answers.ts";
import { type Exchange, operationOf } from "./exchange.ts";

export interface ServerSetup {
  readonly exchanges: readonly Exchange[];
  readonly tls?: { readonly key: string; readonly cert: string } | undefined;
}

let asked: Record<string, number> = {};

/** By the body: there are only a few. */
const checksums = new Map<string, number>();

function checksumOf(body: string): number {
  const known = checksums.get(body);
  if (known !== undefined) return known;
  const checksum = crc32(body);
  checksums.set(body, checksum);
  return checksum;
}

function start({ exchanges, tls }: ServerSetup): Promise<number> {
  const answer = answersOf(exchanges);
  const handle: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const operation = operationOf(request.headers);
      asked[operation] = (asked[operation] ?? 0) + 1;
      const { status, body } = answer(operation, JSON.parse(Buffer.concat(chunks).toString()));
      const headers = {
        "content-type": "application/x-amz-json-1.0",
        "content-length": Buffer.byteLength(body),
        // As DynamoDB sends it, so that clients check it.
        "x-amz-crc32": checksumOf(body),
      };
      response.writeHead(status, headers).end(body);
    });
  };
  const server = tls ? createTlsServer(tls, handle) : createServer(handle);
  // Connections outlive the turns of other callers.
  server.keepAliveTimeout = 600_000;
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

answerParent((question: ServerSetup | "asked") => {
  if (question !== "asked") return start(question);
  const sinceThen = asked;
  asked = {};
  return sinceThen;
});
