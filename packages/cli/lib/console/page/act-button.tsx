/** A button that changes something in a local run. */
import { useState } from "preact/hooks";
import type { ActAnswer } from "../look.ts";

export type Perform = (act: Readonly<Record<string, unknown>>) => Promise<ActAnswer>;

export interface ActButtonProps {
  readonly act: Readonly<Record<string, string>>;
  readonly perform: Perform;
  readonly children: string;
  /** Names what the button acts on, for screen readers that don't see the row. */
  readonly about: string;
  readonly disabled?: boolean;
}

export function ActButton({ act, perform, children, about, disabled = false }: ActButtonProps) {
  const [isBusy, work] = useState(false);
  const press = async () => {
    work(true);
    await perform(act);
    work(false);
  };
  return (
    <button type="button" class="act" disabled={disabled || isBusy} onClick={press}>
      {children}
      <span class="hidden"> {about}</span>
    </button>
  );
}
