/**
 * Keeps the memory of an AWS SDK client apart by scene: the clock's offset and the retries left. A module
 * that is loaded once would otherwise carry this memory from host to host. It would also reach the next
 * simulation, which then would not repeat itself.
 */
import { currentScene } from "../scene.ts";

export interface ClientConfig {
  systemClockOffset?: number;
  retryStrategy?: () => Promise<object>;
}

const seen = new WeakSet<object>();

export function keepStateByScene(config: ClientConfig): void {
  if (seen.has(config)) return;
  seen.add(config);
  if ("systemClockOffset" in config) keepApart(config, "systemClockOffset");
  const real = config.retryStrategy;
  if (typeof real !== "function") return;
  config.retryStrategy = async () => {
    const strategy = await real();
    if (!seen.has(strategy)) {
      seen.add(strategy);
      if ("capacity" in strategy) keepApart(strategy, "capacity");
    }
    return strategy;
  };
}

/** Keeps each property of the state apart by scene. */
export function keepApartByScene(state: object): void {
  if (seen.has(state)) return;
  seen.add(state);
  for (const name of Object.keys(state)) keepApart(state, name);
}

function keepApart(object: object, name: string): void {
  let own: unknown = Reflect.get(object, name);
  const initial = own;
  const byOwner = new WeakMap<object, unknown>();
  Object.defineProperty(object, name, {
    configurable: true,
    enumerable: true,
    get() {
      const owner = currentScene()?.owner;
      if (owner === undefined) return own;
      return byOwner.has(owner) ? byOwner.get(owner) : initial;
    },
    set(value: unknown) {
      const owner = currentScene()?.owner;
      if (owner === undefined) own = value;
      else byOwner.set(owner, value);
    },
  });
}
