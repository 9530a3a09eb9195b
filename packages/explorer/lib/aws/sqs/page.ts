/** Cuts a list into pages. The token marks the start of the next page. */
import type { Page } from "./operations.ts";
import { invalidValue } from "./sqs-error.ts";

const MAX_PAGE = 1000;

/** Without `MaxResults` the whole list is one page without a token. */
export function pageOf(
  items: readonly string[],
  { MaxResults, NextToken }: Page,
): { readonly items: readonly string[]; readonly NextToken?: string } {
  if (MaxResults !== undefined && !(MaxResults >= 1 && MaxResults <= MAX_PAGE)) {
    throw invalidValue("MaxResults", MaxResults, `Must be between 1 and ${MAX_PAGE}, if provided.`);
  }
  const start = NextToken === undefined ? 0 : startOf(NextToken);
  const end = start + (MaxResults ?? MAX_PAGE);
  const hasMore = MaxResults !== undefined && end < items.length;
  return { items: items.slice(start, end), ...(hasMore && { NextToken: tokenOf(end) }) };
}

function tokenOf(start: number): string {
  return Buffer.from(String(start)).toString("base64");
}

function startOf(token: string): number {
  const start = Buffer.from(token, "base64").toString();
  if (!/^\d+$/.test(start)) throw invalidValue("NextToken", token, "Not a token of this list.");
  return Number(start);
}
