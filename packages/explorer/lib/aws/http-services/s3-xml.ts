/** Shared by S3's XML responses. */
export const XML_TYPE = { "content-type": "application/xml" };

export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
