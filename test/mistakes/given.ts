// One mistake of a user, and what reports it. The page docs/reference/mistakes.md is made of all of them.
import { vi } from "vitest";

export interface Mistake {
  /** What the user did, without the verb's subject: "gives the retention in milliseconds". */
  readonly made: string;
  /** A caller sees an answer, a test a report, a stack the synthesis; the compiler sees a type. */
  readonly reportedBy: "error" | "log" | "answer" | "report" | "synthesis" | "type";
  /** The text as the user reads it, or the part of it that says what was wrong and what to do. */
  readonly text: string;
  /** Makes the mistake and returns what the user reads. Code with `@ts-expect-error`, which a type refuses, is never called. */
  readonly make: () => unknown;
}

/** The lines that the mistake writes to the console, whatever becomes of it. */
export async function logOf(level: "error" | "warn", make: () => unknown): Promise<string> {
  const lines: unknown[] = [];
  const written = vi.spyOn(console, level).mockImplementation((...line) => void lines.push(line.join(" ")));
  try {
    await make();
  } finally {
    written.mockRestore();
  }
  return lines.join("\n");
}

/** The message of the error that the mistake throws, at once or later. */
export async function messageOf(make: () => unknown): Promise<string> {
  try {
    await make();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error("the mistake threw nothing");
}
