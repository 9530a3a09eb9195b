/** Fills in defaults. Unlike with object spread, an explicit `undefined` keeps the default. */
export function withDefaults<Given extends object, Defaults extends object>(
  given: Given,
  defaults: Defaults,
): Given & Required<Pick<Given, keyof Given & keyof Defaults>> {
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return { ...defaults, ...Object.fromEntries(present) } as unknown as Given &
    Required<Pick<Given, keyof Given & keyof Defaults>>;
}
