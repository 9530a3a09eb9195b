/** Keeps a value beside a request. */

/**
 * A value for each object, on the object itself. An entry of a WeakMap stays until the next large garbage collection, with
 * everything that its request refers to: on a busy server, that cost more than the rest of a call.
 */
export class Beside<Value> {
  readonly #name: symbol;
  /** For objects that can't be extended. */
  readonly #others: WeakMap<object, Value>;

  constructor(name: symbol, others = new WeakMap<object, Value>()) {
    this.#name = name;
    this.#others = others;
  }

  set(target: object, value: Value): void {
    const isSet = Reflect.defineProperty(target, this.#name, { value, configurable: true });
    if (!isSet) this.#others.set(target, value);
  }

  get(target: object): Value | undefined {
    const own = (target as { readonly [name: symbol]: Value | undefined })[this.#name];
    // A frozen object can inherit the value of the object that it was made from.
    if (own !== undefined && Object.isExtensible(target)) return own;
    return this.#others.get(target) ?? own;
  }
}
