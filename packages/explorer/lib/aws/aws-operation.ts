/** Which operation an AWS request names, read from its signature and its protocol. Pure. */

interface SignedRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** In a header or, presigned, in the query. Signatures for several Regions carry no Region in their scope. */
const SCOPE = /Credential=[^/,\s&]+\/\d{8}\/(?:[\w-]+\/)?([\w-]+)\/aws4_request/;
const HOST = /^(?:.+\.)?(?:(s3)|(ssm|secretsmanager|email|sns))[.-](?:[\w.-]+\.)?amazonaws\.com/;
/** The path of https://smithy.io/2.0/additional-specs/protocols/smithy-rpc-v2.html */
const RPC_PATH = /\/service\/\w+\/operation\/(\w+)$/;

/** The name under which the request is signed, such as "secretsmanager"; for an unsigned one by its host. */
export function awsServiceOf({ url, headers }: Pick<SignedRequest, "url" | "headers">): string | undefined {
  const query = `Credential=${url.searchParams.get("X-Amz-Credential") ?? ""}`;
  const signed = SCOPE.exec(headers.get("authorization") ?? "")?.[1] ?? SCOPE.exec(query)?.[1];
  if (signed !== undefined) return signed;
  const [, bucket, other] = HOST.exec(url.hostname) ?? [];
  return bucket ?? (other === "email" ? "ses" : other);
}

/** "GetParameter"; for a request that names none its method. */
export function operationOf({ method, url, headers, body }: SignedRequest): string {
  const target = headers.get("x-amz-target")?.split(".").at(-1);
  const path = RPC_PATH.exec(url.pathname)?.[1];
  if (target ?? path) return target ?? path ?? "";
  const service = awsServiceOf({ url, headers });
  if (method !== "POST" || service === undefined) return method;
  if (service === "appconfigdata" || service === "appconfig") {
    return url.pathname === "/configurationsessions" ? "StartConfigurationSession" : method;
  }
  const isForm = headers.get("content-type")?.startsWith("application/x-www-form-urlencoded");
  return (isForm && new URLSearchParams(new TextDecoder().decode(body)).get("Action")) || method;
}

/** Methods that ask for no effect (RFC 9110, section 9.2.1). */
const SAFE_METHODS = ["GET", "HEAD", "OPTIONS", "TRACE"];
const READ =
  /^((Admin|Batch|Transact)?(Get|List)|Describe|Head|Query|Scan|Search|Select|Lookup|(Re|De|En)+crypt|(Sign|Verify|VerifyMac)$|Generate(DataKey|Mac|Random)|AssumeRole|StartConfigurationSession)/;

/** Whether an operation or a method changes nothing, judging by its name. */
export function isRead(operation: string): boolean {
  return SAFE_METHODS.includes(operation) || READ.test(operation);
}
