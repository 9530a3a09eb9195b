// Registries of what the constructs of an app have said of each other.
import type { IConstruct } from "constructs";

/**
 * The registry of that name for all copies of this package in the process. An app may load it as an ES module and as CommonJS, or
 * have two installed. A copy that keeps another kind of value takes another number.
 */
export function sharedRegistry<Value>(name: string): WeakMap<IConstruct, Value> {
  const holder = globalThis as { [key: symbol]: WeakMap<IConstruct, Value> | undefined };
  const key = Symbol.for(`onceonly/cdk ${name} 1`);
  holder[key] ??= new WeakMap();
  return holder[key];
}
