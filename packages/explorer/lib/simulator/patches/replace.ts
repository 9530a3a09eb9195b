/** Replaces properties of shared objects, and remembers the original ones. */

type Method = (...parameters: never[]) => unknown;

const undo: (() => void)[] = [];
/** Leads from a wrapper to the property that it replaced. */
const WRAPPED = Symbol.for("onceonly.wrapped");

interface Wrapped {
  readonly by: unknown;
  readonly former: PropertyDescriptor | undefined;
}

export function replace(object: object, name: PropertyKey, value: unknown): void {
  put(object, name, value, Object.getOwnPropertyDescriptor(object, name));
}

/**
 * Replaces a method by the one that `make` returns for the original. Another copy of this module may
 * have wrapped the method before, because jest loads a copy for each test file. Removes that wrapper.
 */
export function wrap<M extends Method>(object: object, name: PropertyKey, make: (real: M) => M): void {
  const found = Object.getOwnPropertyDescriptor(object, name);
  const mark = (found?.value as { readonly [WRAPPED]?: Wrapped } | undefined)?.[WRAPPED];
  // A mock around the wrapper leads to the same mark, but stays.
  const former = mark !== undefined && mark.by === found?.value ? mark.former : found;
  const real = (former ? former.value : Reflect.get(Object.getPrototypeOf(object), name)) as M;
  const made = make(real);
  // util.promisify finds the promise version of a function by a symbol.
  Object.defineProperties(made, Object.getOwnPropertyDescriptors(real));
  Object.defineProperty(made, WRAPPED, { value: { by: made, former } satisfies Wrapped, configurable: true });
  put(object, name, made, former);
}

function put(
  object: object,
  name: PropertyKey,
  value: unknown,
  former: PropertyDescriptor | undefined,
): void {
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
