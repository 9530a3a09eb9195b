/** Fills in the options that a user left out. */

/** Unlike object spread, an explicit `undefined` also gets the default. */
export function withDefaults<Given extends object, Defaults extends object>(
  given: Given,
  defaults: Defaults,
) {
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(present) } as unknown as Given &
    Required<Pick<Given, keyof Given & keyof Defaults>>;
}
