/**
 * State shared by the copies of this package in one process. There are two if an app loads it as an ES module and as CommonJS,
 * if a bundle runs beside a layer, or after `jest.resetModules()`. Objects of one copy then reach the other. Options, stores
 * and helpers are plain objects and functions, which any copy can use. Data kept beside an object goes here.
 */

/**
 * The shape of the shared state, and of the data that a copy reads from another copy's objects. A release that changes either
 * increments the number, so that no copy misreads the other.
 */
export const SHAPE = 1;

const COPIES = Symbol.for("onceonly.copies");
type Shapes = Record<number, Record<string, object>>;
const shapes = () => {
  const holder = globalThis as { [COPIES]?: Shapes };
  holder[COPIES] ??= {};
  return holder[COPIES];
};

/** The state under that name for all copies in this process. The first copy creates it. */
export function shared<State extends object>(name: string, make: () => State): State {
  const all = shapes();
  all[SHAPE] ??= {};
  const states = all[SHAPE];
  states[name] ??= make();
  return states[name] as State;
}

/**
 * For an error about something that this copy doesn't know: the cause, if a copy with another shape keeps state under that
 * name; else nothing.
 */
export function otherCopies(name: string): string {
  const others = Object.entries(shapes()).flatMap(([shape, states]) =>
    shape !== `${SHAPE}` && name in states ? [shape] : [],
  );
  if (others.length === 0) return "";
  return `. Another version of onceonly in this process may have created it (its shape is ${others.join(", ")}, this one's is ${SHAPE}): load one version`;
}
