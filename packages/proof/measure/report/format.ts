// Numbers as the report shows them: rounded, so reruns of the same code rarely differ. Pure.

/** Of 1,000 bytes. */
export function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toLocaleString("en", { minimumFractionDigits: 1, maximumFractionDigits: 1 })} KB`;
}

export function exactCount(count: number): string {
  return count.toLocaleString("en");
}

/** Exact: a quarter of a unit is not rounded away. */
export function dollars(amount: number): string {
  return `$${amount.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 5 })}`;
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

export function milliseconds(ms: number, digits = 1): string {
  return `${ms.toFixed(digits)} ms`;
}

export function ratio(value: number, digits = value < 1 ? 2 : 1): string {
  return `× ${value.toFixed(digits)}`;
}
