/** A wrong value may be a secret in the wrong place: of texts and objects only the kind is shown. */
export function kindOf(value: unknown): string {
  if (value === undefined || value === null) return `${value}`;
  if (typeof value === "string") return `text of ${value.length} characters`;
  if (typeof value === "number" || typeof value === "boolean") return `${value} (${typeof value})`;
  return Array.isArray(value) ? `a list of ${value.length}` : `a value of type ${typeof value}`;
}
