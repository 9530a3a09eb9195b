/** The order in which the messages of each group arrived. Pure. */
import type { Effect } from "./effect.ts";
import { canonicalText } from "./plain-value.ts";
import { placeOf, type VolatileValues } from "./volatile-values.ts";

/** Each queue's sequences of its groups, sorted because group ids may differ between runs. */
export function groupOrders(effects: readonly Effect[], volatile: VolatileValues): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const effect of effects) {
    const group = effect.kind === "message" ? effect.content.group : null;
    if (group === null || group === undefined) continue;
    const key = canonicalText([effect.place, group]);
    const form = volatile.mask({ place: placeOf(effect), content: effect.content });
    groups.set(key, [...(groups.get(key) ?? []), canonicalText(form)]);
  }
  const places = new Map<string, string[]>();
  for (const [key, sequence] of groups) {
    const [place] = JSON.parse(key) as [string];
    places.set(place, [...(places.get(place) ?? []), canonicalText(sequence)].sort());
  }
  return places;
}
