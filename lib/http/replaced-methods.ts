/** Replaces methods of an object for a while. */
export type Method = (...given: never[]) => unknown;
export type Methods = Readonly<Record<string, Method>>;

/** Replaces methods by plain assignment, because accessors and deletions make every later use of the object slow. */
export function replaced(target: object, methods: Methods): () => void {
  const members = target as Record<string, Method>;
  const previous = Object.keys(methods).map((name) => [name, members[name] as Method] as const);
  Object.assign(target, methods);
  return () => {
    for (const [name, method] of previous) members[name] = method;
  };
}
