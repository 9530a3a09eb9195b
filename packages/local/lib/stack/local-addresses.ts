// Addresses that a template builds from names, such as `https://<api id>.execute-api.<region>.amazonaws.com`, turned
// into the ones that are served here. Pure.
import { LOCAL_ACCOUNT_ID, type LocalEnvironment } from "./local-environment.ts";

/** The value with every such address in it replaced. */
export function withLocalAddresses(value: unknown, environment: LocalEnvironment): unknown {
  if (typeof value === "string") {
    return value
      .replaceAll(
        /https:\/\/([a-z0-9]+)\.execute-api\.[a-z0-9-]+\.amazonaws\.com/g,
        (address, apiId: string) => environment.apis.get(apiId)?.server.url ?? address,
      )
      .replaceAll(
        /https:\/\/sqs\.[a-z0-9-]+\.amazonaws\.com(?=\/(\d{12})\/)/g,
        (address, accountId: string) => (accountId === LOCAL_ACCOUNT_ID ? environment.sqs.endpoint : address),
      );
  }
  if (Array.isArray(value)) return value.map((item) => withLocalAddresses(item, environment));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, withLocalAddresses(item, environment)]),
  );
}
