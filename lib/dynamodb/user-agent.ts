/** What a client calls itself: as the SDK writes it, without the features that it counts in each request. */
import type { SdkConfig } from "./sdk-client.ts";

/** Of a header's token. https://www.rfc-editor.org/rfc/rfc9110#name-tokens */
const OTHERS = /[^!$%&'*+\-.^_`|~\w#]/g;

export async function userAgentOf(config: SdkConfig): Promise<string> {
  const appId = await config.userAgentAppId?.();
  const pairs = [
    ...(await config.defaultUserAgentProvider()),
    ...(appId ? [["app", appId] as const] : []),
    ...(config.customUserAgent ?? []),
  ];
  return pairs
    .map(([name, version]) => {
      const parts = name.split("/").map((part) => part.replace(OTHERS, "-"));
      const written = (parts[0] === "api" ? parts.map((part) => part.toLowerCase()) : parts).join("/");
      if (!version) return written;
      return `${written}${written.includes("/") ? "#" : "/"}${version.replace(OTHERS, "-")}`;
    })
    .join(" ");
}
