// A certificate for this machine, made anew by openssl: no private key lies in the repository.
import { execFileSync } from "node:child_process";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { guardDirectory } from "../../packages/local/lib/process-guard.ts";

interface CertificateFiles {
  readonly keyFile: string;
  readonly certificateFile: string;
}

/** The files are removed when this process ends. */
export async function selfSignedCertificate(): Promise<CertificateFiles> {
  const directory = await mkdtemp(join(tmpdir(), "onceonly-certificate-"));
  guardDirectory(directory);
  const [keyFile, certificateFile] = [join(directory, "key.pem"), join(directory, "certificate.pem")];
  // The kind of key that DynamoDB's certificates have.
  const key = ["-newkey", "rsa:2048", "-noenc", "-keyout", keyFile];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const args = ["req", "-x509", ...key, "-out", certificateFile, "-days", "2", ...names];
  execFileSync("openssl", args, { stdio: ["ignore", "ignore", "pipe"] });
  return { keyFile, certificateFile };
}
