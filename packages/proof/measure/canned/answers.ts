// Replies as the engine did to a similar request. A new key is let in. A second claim of a key is refused
// with the record that refused it in the recording. This server keeps no items, so every package is answered equally
// fast. Pure.
import { type Asked, type CannedAnswer, claimIn, type Exchange } from "./exchange.ts";

/** @throws Error when nothing like it was recorded */
export function answersOf(exchanges: readonly Exchange[]): (operation: string, asked: Asked) => CannedAnswer {
  const recorded = new Map(exchanges.map((exchange) => [labelOf(exchange), exchange]));
  const claimed = new Set<string>();
  return (operation, asked) => {
    const claim = claimIn(asked);
    const key = claim && keyOf(claim);
    const status = key && claimed.has(key) ? 400 : 200;
    if (key) claimed.add(key);
    const label = labelOf({ operation, request: asked, status });
    const answer = recorded.get(label);
    if (!answer) throw new Error(`no answer was recorded for ${label}`);
    return answer;
  };
}

function labelOf({ operation, request, status }: Omit<Exchange, "body">): string {
  const claim = claimIn(request);
  const what = !claim ? "a write" : status === 200 ? "a first claim" : "a second claim";
  return `${operation} of ${what} in ${(claim ?? request).TableName}`;
}

function keyOf({ TableName, Item, Key }: Asked): string {
  const { pk, id } = { ...Item, ...Key };
  return JSON.stringify([TableName, pk, id]);
}
