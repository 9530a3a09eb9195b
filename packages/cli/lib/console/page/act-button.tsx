/** A button that changes something. One that cannot be taken back asks once more, in its place. */
import { useState } from "preact/hooks";

export type Perform = (act: Readonly<Record<string, string>>) => Promise<void>;

export interface ActButtonProps {
  readonly act: Readonly<Record<string, string>>;
  readonly perform: Perform;
  readonly children: string;
  /** Tells what it is about, to whoever does not see the row. */
  readonly about: string;
  /** What the second press says. */
  readonly sure?: string;
  readonly disabled?: boolean;
}

export function ActButton({ act, perform, children, about, sure, disabled = false }: ActButtonProps) {
  const [isAsked, ask] = useState(false);
  const [isBusy, work] = useState(false);
  const press = async () => {
    if (sure !== undefined && !isAsked) return ask(true);
    ask(false);
    work(true);
    await perform(act);
    work(false);
  };
  return (
    <button
      type="button"
      class={isAsked ? "act sure" : "act"}
      disabled={disabled || isBusy}
      onClick={press}
      onBlur={() => ask(false)}
    >
      {isAsked ? sure : children}
      <span class="hidden"> {about}</span>
    </button>
  );
}
