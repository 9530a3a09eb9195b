// What there is of both packages. Pure.

export interface Sided<T> {
  readonly onceonly: T;
  readonly powertools: T;
}

export function sided<T>({ onceonly, powertools }: Sided<T>, show: (value: T) => string): string[] {
  return [show(onceonly), show(powertools)];
}
