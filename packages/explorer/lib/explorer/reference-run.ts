/** The result of an undisturbed run, learnt from two of them: every other run is compared with it. */
import type { Point } from "./finding.ts";
import type { Play } from "./play.ts";
import { referencesIn } from "./references.ts";
import type { Scenario } from "./scenario.ts";
import type { SourceAnswer } from "./source.ts";
import { ANSWER_PLACE, type Observed, placeOf, VolatileValues } from "./volatile-values.ts";

export interface ReferenceRun {
  readonly play: Play;
  readonly points: readonly Point[];
  readonly volatile: VolatileValues;
  readonly references: ReturnType<typeof referencesIn>;
  /** More requests in one invocation count as endless. */
  readonly maxRequests: number;
}

/**
 * Allowed attempts at one request, immediately and in each further second: a write that is retried until the
 * deadline makes fewer.
 */
const TRIES = 20;
const TRIES_PER_SECOND = 2;

export function referenceOf(
  play: Play,
  other: Play,
  { ignore = [], timeoutSeconds }: Scenario["options"],
): ReferenceRun {
  const [ours, theirs] = [observedIn(play), observedIn(other)];
  const volatile = new VolatileValues(ours, theirs, ignore);
  return {
    play,
    points: play.ios.map(({ service, operation, target }, index) => ({
      number: index + 1,
      label: `${service} ${operation} ${target}`,
    })),
    volatile,
    references: referencesIn(ours, theirs, (place, { path, value }) =>
      volatile.isVolatile(place, path, value),
    ),
    maxRequests: mostRequests(play) * (TRIES + timeoutSeconds * TRIES_PER_SECOND),
  };
}

/** The effects and the first answer. */
export function observedIn({ effects, answers }: Pick<Play, "effects" | "answers">): Observed[] {
  const first = answers.find(({ isSuccess }) => isSuccess);
  return [
    ...effects.map((effect) => ({ place: placeOf(effect), content: effect.content })),
    ...(first === undefined ? [] : answerObserved(first)),
  ];
}

export function answerObserved({ content }: SourceAnswer): Observed[] {
  return content === undefined ? [] : [{ place: ANSWER_PLACE, content }];
}

export function mostRequests({ ios }: Pick<Play, "ios">): number {
  const counts = new Map<number, number>();
  for (const { invocation } of ios) counts.set(invocation, (counts.get(invocation) ?? 0) + 1);
  return Math.max(0, ...counts.values());
}
