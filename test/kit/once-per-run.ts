// Makes what several test files need once in a run of the tests: the first file that asks makes it, the others wait.
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { inject } from "vitest";

declare module "vitest" {
  export interface ProvidedContext {
    /** Exists as long as the run; test/setup/run-folder.ts makes it. */
    runFolder: string;
  }
}

type Made<T> = { readonly value: T } | { readonly error: string };

/**
 * @param make gets an empty folder, which no test may change afterwards
 * @returns what `make` returned, as JSON can hold it
 * @throws Error with the text of what `make` threw, in each file that asks
 */
export async function oncePerRun<T>(name: string, make: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(inject("runFolder"), name);
  const resultFile = `${folder}.json`;
  if (await isFirst(folder)) {
    const made: Made<T> = await make(folder).then(
      (value) => ({ value }),
      (error) => ({ error: `${error.stack}` }),
    );
    await writeFile(`${resultFile}.draft`, JSON.stringify(made));
    await rename(`${resultFile}.draft`, resultFile);
  }
  for (;;) {
    const text = await readFile(resultFile, "utf8").catch(() => undefined);
    if (text !== undefined) return valueIn(JSON.parse(text));
    await sleep(50);
  }
}

async function isFirst(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

function valueIn<T>(made: Made<T>): T {
  if ("error" in made) throw new Error(made.error);
  return made.value;
}
