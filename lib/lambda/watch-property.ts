/** Middy has no hook for what happens between its middlewares; assignments to its request tell it. */

/**
 * Calls `assigned` for each assignment to `target[name]` and keeps what that returns; calls `read` for each read.
 * A property can be watched more than once.
 */
export function watchProperty(
  target: object,
  name: string,
  watcher: { assigned?: (value: unknown) => unknown; read?: () => void },
): void {
  const former = Object.getOwnPropertyDescriptor(target, name);
  let kept = former?.value as unknown;
  Object.defineProperty(target, name, {
    configurable: true,
    enumerable: true,
    get: () => {
      watcher.read?.();
      return former?.get === undefined ? kept : former.get.call(target);
    },
    set: (value: unknown) => {
      const keep = watcher.assigned === undefined ? value : watcher.assigned(value);
      if (former?.set === undefined) kept = keep;
      else former.set.call(target, keep);
    },
  });
}
