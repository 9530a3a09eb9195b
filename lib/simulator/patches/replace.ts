/** Replaces properties of objects that are everybody's, and remembers what was there. */

const undo: (() => void)[] = [];

export function replace(object: object, name: PropertyKey, value: unknown): void {
  const former = Object.getOwnPropertyDescriptor(object, name);
  undo.push(() => {
    // What somebody else put over it, such as a spy, is theirs to take away.
    if (Object.getOwnPropertyDescriptor(object, name)?.value !== value) return;
    if (former === undefined) Reflect.deleteProperty(object, name);
    else Object.defineProperty(object, name, former);
  });
  const enumerable = former?.enumerable ?? true;
  Object.defineProperty(object, name, { value, enumerable, configurable: true, writable: true });
}

/** Puts back all that was replaced. */
export function restoreAll(): void {
  for (const restore of undo.splice(0).reverse()) restore();
}
