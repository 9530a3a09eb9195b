/** `quick` only shows that a section works; `short` is what fits in a coffee break; `full` is what the page is for. */
export type Effort = "quick" | "short" | "full";

export const byEffort = <T>(effort: Effort, values: Readonly<Record<Effort, T>>): T => values[effort];
