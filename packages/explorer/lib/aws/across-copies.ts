/**
 * Makes `instanceof` true for instances of every copy of the class: a test may have one copy of the package, and the model another
 * one (ES module and CommonJS, `jest.resetModules()`).
 */
export function acrossCopies(given: { readonly prototype: object }, name: string): void {
  const brand = Symbol.for(`onceonly.${name}`);
  const isOfThisCopy = Function.prototype[Symbol.hasInstance];
  Object.defineProperty(given.prototype, brand, { value: true });
  Object.defineProperty(given, Symbol.hasInstance, {
    value(this: unknown, value: unknown) {
      return this === given ? brand in Object(value) : isOfThisCopy.call(this as never, value);
    },
  });
}
