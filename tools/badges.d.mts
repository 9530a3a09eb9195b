export function badge(label: string, value: string, colour: "green" | "teal" | "red"): string;

interface Measured {
  readonly pct: number;
}

export function coverageBadge(summary: {
  readonly total: { readonly lines: Measured; readonly branches: Measured };
}): string;
