/** Hides what handlers print in hundreds of runs; all other output appears. */
import { currentScene } from "../simulator/scene.ts";

const METHODS = ["debug", "error", "info", "log", "trace", "warn"] as const;
const STREAMS = ["stdout", "stderr"] as const;

let users = 0;
let restore = () => {};

/** Hides until the returned function is called. */
export function quietConsole(): () => void {
  if (users++ === 0) restore = silence();
  let isOver = false;
  return () => {
    if (isOver) return;
    isOver = true;
    if (--users === 0) restore();
  };
}

function silence(): () => void {
  const undo = [
    ...METHODS.map((name) => silenced(console, name, undefined)),
    ...STREAMS.map((name) => silenced(process[name], "write", true)),
  ];
  return () => {
    for (const each of undo) each();
  };
}

function silenced<Name extends string>(
  holder: { [name in Name]: (...values: never[]) => unknown },
  name: Name,
  answer: unknown,
): () => void {
  const original = holder[name];
  holder[name] = (...values: never[]) =>
    currentScene() === undefined ? original.apply(holder, values) : answer;
  return () => {
    holder[name] = original;
  };
}
