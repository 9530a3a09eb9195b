/** What a test file does at its end; test/setup/end-of-file.ts calls it. Imports nothing, as unit tests load it too. */
const ends: (() => Promise<void>)[] = [];

export function atEndOfFile(end: () => Promise<void>): void {
  ends.push(end);
}

export async function endFile(): Promise<void> {
  await Promise.all(ends.splice(0).map((end) => end()));
}
