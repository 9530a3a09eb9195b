/** Middy has no hook for what happens between its middlewares; assignments to its request tell it. */

/**
 * Calls `onRead` for each read of `target[name]`, and keeps what `onAssign` makes of each value that is assigned.
 * A property that is there can be watched more than once.
 */
export function watchProperty(
  target: object,
  name: string,
  onAssign: (value: unknown) => unknown,
  onRead = () => {},
): void {
  const former = Object.getOwnPropertyDescriptor(target, name);
  let kept: unknown = former?.value;
  Object.defineProperty(target, name, {
    get: () => {
      onRead();
      return former?.get ? former.get() : kept;
    },
    set: (value: unknown) => {
      kept = onAssign(value);
      former?.set?.(kept);
    },
  });
}
