// Registries that the constructs of an app share.
import type { IConstruct } from "constructs";

/**
 * One registry per name, shared by all copies of this package in the process: an app may load it as an ES module and as
 * CommonJS, or have two versions installed. Change the number when a registry stores another kind of value.
 */
export function sharedRegistry<Value>(name: string): WeakMap<IConstruct, Value> {
  const holder = globalThis as { [key: symbol]: WeakMap<IConstruct, Value> | undefined };
  const key = Symbol.for(`onceonly/cdk ${name} 1`);
  holder[key] ??= new WeakMap();
  return holder[key];
}
