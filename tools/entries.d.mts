/** Each entry's name in an import, and the path of its source. */
export const SOURCES: readonly (readonly [name: string, source: string])[];

/** By name on npm. */
export const PACKAGES: {
  readonly onceonly: { readonly entries: Readonly<Record<string, string>> };
};
