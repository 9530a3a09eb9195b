/** Describes an undisturbed run's response and effects in the report, so a passing report shows what it covers. Pure. */
import { countOf } from "./compare-effects.ts";
import type { Effect } from "./effect.ts";
import { canonicalText } from "./plain-value.ts";
import type { Play } from "./play.ts";
import { placeOf } from "./volatile-values.ts";

type Seen = Pick<Play, "before" | "effects">;

/** The effects that the world did not have before the run. */
export function madeEffects({ before, effects }: Seen): readonly Effect[] {
  const textOf = ({ kind, place, content }: Effect) => canonicalText([kind, place, content]);
  const old = new Set(before.map(textOf));
  return effects.filter((effect) => !old.has(textOf(effect)));
}

/** "answer 201; 1 item in orders, 1 message in mails" */
export function undisturbedWords({ last, unsent, ...seen }: Seen & Pick<Play, "last" | "unsent">): string {
  const places = new Map<string, Effect[]>();
  for (const effect of madeEffects(seen)) {
    places.set(placeOf(effect), [...(places.get(placeOf(effect)) ?? []), effect]);
  }
  const counts = [...places.values()].map((made) => countOf(made.length, made[0] as Effect));
  const waiting =
    unsent > 0 ? ["committed messages that no relay sends: explore it with a relay, and deploy one"] : [];
  return `${last?.words}; ${[...counts, ...waiting].join(", ") || "no effect"}`;
}
