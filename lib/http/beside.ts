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

  /** The value of the object, or of the nearest object that it was made from. Each of them may be frozen. */
  get(target: object): Value | undefined {
    for (let each: object | null = target; each; each = Object.getPrototypeOf(each) as object | null) {
      if (Object.hasOwn(each, this.#name)) return (each as Readonly<Record<symbol, Value>>)[this.#name];
      const other = this.#others.get(each);
      if (other !== undefined) return other;
    }
    return undefined;
  }
}
