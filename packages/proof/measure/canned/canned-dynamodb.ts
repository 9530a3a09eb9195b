// A DynamoDB that only repeats an engine's recorded responses, in a separate process. So the time measured in a caller's
// process is the client's, not the database's.
import { readFileSync } from "node:fs";
import { selfSignedCertificate } from "../../../../test/kit/self-signed-certificate.ts";
import { startHelper } from "../../helper-process.ts";
import { bundleProcess } from "../../process-bundle.ts";
import type { Exchange } from "./exchange.ts";

export interface CannedDynamoDB {
  readonly endpoint: string;
  /** The certificate that a process must trust, for `NODE_EXTRA_CA_CERTS`; with TLS only. */
  readonly certificateFile?: string | undefined;
  /** How often each operation was asked since this was called last. */
  asked(): Promise<Readonly<Record<string, number>>>;
  stop(): void;
}

export async function startCannedDynamoDB(
  exchanges: readonly Exchange[],
  { overTls = false } = {},
): Promise<CannedDynamoDB> {
  const files = overTls ? await selfSignedCertificate() : undefined;
  const tls = files && {
    key: readFileSync(files.keyFile, "utf8"),
    cert: readFileSync(files.certificateFile, "utf8"),
  };
  const server = startHelper(await bundleProcess("packages/proof/measure/canned/server-process.ts"));
  const port = await server.ask({ exchanges, tls });
  return {
    endpoint: `${overTls ? "https" : "http"}://localhost:${port}`,
    certificateFile: files?.certificateFile,
    asked: async () => (await server.ask("asked")) as Record<string, number>,
    stop: server.stop,
  };
}
