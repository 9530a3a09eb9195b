/** Replaces properties of shared objects, and remembers the original ones. */

const undo: (() => void)[] = [];

export function replace(object: object, name: PropertyKey, value: unknown): void {
  const former = Object.getOwnPropertyDescriptor(object, name);
  undo.push(() => {
    // If other code has replaced the property since, with a spy for example, that code must restore it.
    if (Object.getOwnPropertyDescriptor(object, name)?.value !== value) return;
    if (former === undefined) Reflect.deleteProperty(object, name);
    else Object.defineProperty(object, name, former);
  });
  const enumerable = former?.enumerable ?? true;
  Object.defineProperty(object, name, { value, enumerable, configurable: true, writable: true });
}

/** Restores all replaced properties. */
export function restoreAll(): void {
  for (const restore of undo.splice(0).reverse()) restore();
}
