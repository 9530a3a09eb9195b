// Colours and marks on a terminal, unless NO_COLOR is set; plain text elsewhere.
import { styleText } from "node:util";

export type Colour = "green" | "red" | "bold" | "dim";

export interface Look {
  paint(colour: Colour, text: string): string;
  /** The marks before a promise that holds, and before one that does not. */
  readonly tick: string;
  readonly cross: string;
}

export const PLAIN: Look = { paint: (_, text) => text, tick: "", cross: "" };

const COLOURED: Look = {
  paint: (colour, text) => styleText(colour, text, { validateStream: false }),
  tick: `${styleText("green", "✓", { validateStream: false })} `,
  cross: `${styleText("red", "✗", { validateStream: false })} `,
};

export function lookOn(
  { isTTY }: { readonly isTTY?: boolean | undefined },
  { NO_COLOR }: Readonly<Record<string, string | undefined>>,
): Look {
  return isTTY && !NO_COLOR ? COLOURED : PLAIN;
}
