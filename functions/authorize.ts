// Lambda authorizer of an HTTP API: turns a bearer token into the tenant that owns it. The tenant reaches the
// other functions in the authorizer's context, which no caller can write.
import { createHash, timingSafeEqual } from "node:crypto";
import type {
  APIGatewayRequestAuthorizerEventV2,
  APIGatewaySimpleAuthorizerResult,
  APIGatewaySimpleAuthorizerWithContextResult,
} from "aws-lambda";

type Verdict =
  | APIGatewaySimpleAuthorizerResult
  | APIGatewaySimpleAuthorizerWithContextResult<{ tenant: string }>;

/** Several digests of a tenant count while its token is rotated. */
const tokenDigests: Record<string, string | string[]> = JSON.parse(process.env.TOKEN_DIGESTS ?? "{}");
const tenants = Object.entries(tokenDigests).flatMap(([tenant, digests]) =>
  [digests].flat().map((hex) => ({ tenant, digest: Buffer.from(hex, "hex") })),
);

export const handler = async (event: APIGatewayRequestAuthorizerEventV2): Promise<Verdict> => {
  const token = /^Bearer +(\S+)$/i.exec(event.headers?.authorization ?? "")?.[1];
  const tenant = token && tenantOf(token);
  return tenant ? { isAuthorized: true, context: { tenant } } : { isAuthorized: false };
};

function tenantOf(token: string): string | undefined {
  const presented = createHash("sha256").update(token).digest();
  // Compares with every digest, each in constant time, so the response time reveals nothing about a token.
  const matches = tenants.filter(
    ({ digest }) => digest.length === presented.length && timingSafeEqual(digest, presented),
  );
  return matches[0]?.tenant;
}
