/** Makes untrusted text safe to show in a terminal or on a page. Pure. */

/**
 * Characters that a terminal or a browser interprets or doesn't show: controls, line ends, direction marks, characters without
 * a width, and halves of a pair.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * One line, in which each such character is a JavaScript escape, such as `\u001b`. A line of JSON stays the same JSON, and text
 * that was already escaped stays as it is.
 */
export function visible(text: string): string {
  return text.replace(UNSEEN, (found) => SHORT[found] ?? escapeUnits(found));
}

function escapeUnits(text: string): string {
  let escapes = "";
  for (let at = 0; at < text.length; at++) {
    escapes += `\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`;
  }
  return escapes;
}
