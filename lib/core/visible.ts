/** Shows text from elsewhere in a terminal or on a page as it is, and not as it wants to look. Pure. */

/**
 * What a terminal or a browser acts on, or leaves out: controls, line ends, marks of direction, characters without a width,
 * and halves of a pair.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * One line, in which each such character is an escape of JavaScript, such as `\u001b`. A line of JSON stays the same JSON,
 * and what was escaped before stays as it is.
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
