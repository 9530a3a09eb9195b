/**
 * What the copies of this package in one process know of each other. There are two where an app loads it as an ES module and as
 * CommonJS, where a bundle runs beside a layer, or after `jest.resetModules()`. Then what one copy makes reaches the other. Options,
 * stores and helpers are plain objects and functions, which any copy can use. What is kept beside an object goes here.
 */

/**
 * The shape of what is kept here, and of what a copy reads of another copy's objects. A release that changes either takes the next
 * number, so that no copy misreads the other.
 */
export const SHAPE = 1;

const COPIES = Symbol.for("onceonly.copies");
type Shapes = Record<number, Record<string, object>>;
const shapes = () => {
  const holder = globalThis as { [COPIES]?: Shapes };
  holder[COPIES] ??= {};
  return holder[COPIES];
};

/** The state of that name for all copies in this process, which the first one makes. */
export function shared<State extends object>(name: string, make: () => State): State {
  const all = shapes();
  all[SHAPE] ??= {};
  const states = all[SHAPE];
  states[name] ??= make();
  return states[name] as State;
}

/**
 * For an error about something that this copy doesn't know: the cause, if a copy with another shape keeps state of that name; else
 * nothing.
 */
export function otherCopies(name: string): string {
  const others = Object.entries(shapes()).flatMap(([shape, states]) =>
    shape !== `${SHAPE}` && name in states ? [shape] : [],
  );
  if (others.length === 0) return "";
  return `. Another version of onceonly in this process may have made it (its shape is ${others.join(", ")}, this one's is ${SHAPE}): load one version`;
}
