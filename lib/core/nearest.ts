/** Finds the name that a misspelled one most likely means, for "did you mean". */

/**
 * The candidate that begins with the given name, or is at most two typing mistakes away: a letter added, left out, replaced, or
 * two swapped. A name of fewer than six letters may have one, so that a suggestion is never a different word.
 */
export function nearest(given: string, candidates: readonly string[]): string | undefined {
  const most = Math.min(2, Math.floor(given.length / 3));
  for (let mistakes = 0; mistakes <= most; mistakes++) {
    const found = candidates.find((each) => isWithin(mistakes, given.toLowerCase(), each.toLowerCase()));
    if (found !== undefined) return found;
  }
  return given.length < 3 ? undefined : candidates.find((each) => each.startsWith(given));
}

function isWithin(mistakes: number, given: string, meant: string): boolean {
  if (given === meant) return true;
  if (mistakes === 0) return false;
  let at = 0;
  while (given[at] === meant[at]) at++;
  const rest = (ofGiven: number, ofMeant: number) =>
    isWithin(mistakes - 1, given.slice(at + ofGiven), meant.slice(at + ofMeant));
  const isSwapped = given[at] === meant[at + 1] && given[at + 1] === meant[at];
  return rest(1, 0) || rest(0, 1) || rest(1, 1) || (isSwapped && rest(2, 2));
}

/** The end of a message about an unknown name: the probable intention, or else the valid names. */
export function suggestion(given: string, valid: readonly string[], label: string): string {
  const meant = nearest(given, valid);
  return meant === undefined ? `(${label}: ${valid.join(", ")})` : `(did you mean \`${meant}\`?)`;
}
