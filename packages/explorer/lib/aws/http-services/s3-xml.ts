/** What answers of S3 in XML have in common. */
export const XML_TYPE = { "content-type": "application/xml" };

export function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
