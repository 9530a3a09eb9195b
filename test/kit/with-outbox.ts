// An outbox that does some things in a way of its own, and all else as another one does.
import type { Outbox } from "onceonly/messaging";

export function withOutbox(outbox: Outbox, own: Partial<Outbox>): Outbox {
  return new Proxy(outbox, {
    get(target, name) {
      const value = Reflect.get(own, name) ?? Reflect.get(target, name);
      return typeof value === "function" ? value.bind(name in own ? own : target) : value;
    },
  });
}
