/** Decisions as buttons. Each opens a form that says what follows, asks for a name and a reason, and then does it. */
import type { TargetedSubmitEvent } from "preact";
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Perform } from "./act-button.tsx";

/** What a form asks for. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly initial?: string;
  /** One of these, each with what it's called. */
  readonly choices?: readonly (readonly [value: string, text: string])[];
  /** Only asked for if another field has one of these values. */
  readonly when?: readonly [field: string, ...values: string[]];
  readonly isLong?: boolean;
  readonly isOptional?: boolean;
  readonly maxLength?: number;
  /** The regular expression of a number, and what it means. */
  readonly number?: readonly [pattern: string, title: string];
}

export interface Decision {
  readonly act: Readonly<Record<string, unknown>>;
  /** What the button says. */
  readonly name: string;
  /** What follows, in sentences. */
  readonly consequences: readonly string[];
  /** Before name and reason. */
  readonly fields?: readonly Field[];
  /** The button that does it. */
  readonly confirm: string;
}

export interface DecisionsProps {
  /** What is decided about, for people who don't see its place on the page. */
  readonly about: string;
  readonly decisions: readonly Decision[];
  readonly perform: Perform;
}

export function DecisionButtons({ about, decisions, perform }: DecisionsProps) {
  const [opened, open] = useState<string | undefined>();
  const place = useRef<HTMLDivElement>(null);
  const decision = decisions.find(({ name }) => name === opened);
  const cancel = () => {
    place.current?.querySelector<HTMLElement>('[aria-expanded="true"]')?.focus();
    open(undefined);
  };
  return (
    <div class="decide" ref={place}>
      <p class="acts">
        {decisions.map(({ name }) => (
          <button
            key={name}
            type="button"
            class="act"
            aria-expanded={name === opened}
            onClick={() => open(name === opened ? undefined : name)}
          >
            {name}
            <span class="hidden"> {about}</span>
          </button>
        ))}
      </p>
      {decision && (
        <DecisionForm
          key={decision.name}
          about={about}
          decision={decision}
          perform={perform}
          close={() => open(undefined)}
          cancel={cancel}
        />
      )}
    </div>
  );
}

/** The same person usually decides about several keys. */
let lastName = "";

interface FormProps extends Pick<DecisionsProps, "about" | "perform"> {
  readonly decision: Decision;
  readonly close: () => void;
  /** Closes the form, and returns to its button. */
  readonly cancel: () => void;
}

function DecisionForm({ about, decision, perform, close, cancel }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [chosen, choose] = useState<Readonly<Record<string, string>>>({});
  const [problem, setProblem] = useState("");
  const [isBusy, work] = useState(false);
  // Before the next key is handled: after the paint, the focus would jump away from an operator who already types.
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input, select, textarea")?.focus(), []);
  const { fields = [] } = decision;
  const isAsked = ({ when: [name, ...values] = [""] }: Field) => {
    const other = fields.find((field) => field.name === name);
    return !other || values.includes(chosen[name] ?? other.initial ?? other.choices?.[0]?.[0] ?? "");
  };
  // Only the form is closed: the key stays open.
  const leave = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    cancel();
  };
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(event.currentTarget));
    lastName = `${given.by}`;
    work(true);
    const { done, message } = await perform({ ...decision.act, ...given });
    work(false);
    if (!done) return setProblem(message);
    // The button that was pressed is often gone by now.
    document.getElementById("outcome")?.focus();
    close();
  };
  const signature: readonly Field[] = [
    { name: "by", label: "Your name", initial: lastName, maxLength: 256 },
    { name: "why", label: "Reason", maxLength: 256 },
  ];
  return (
    <form
      ref={form}
      class="decision-form"
      onSubmit={submit}
      onKeyDown={leave}
      autocomplete="off"
      aria-label={`${decision.name} ${about}`}
    >
      {[...fields.filter(isAsked), ...signature].map((field) => (
        <Labelled
          key={field.name}
          field={field}
          choose={(value) => choose({ ...chosen, [field.name]: value })}
        />
      ))}
      <ul class="consequences">
        {decision.consequences.map((each) => (
          <li key={each}>{each}</li>
        ))}
      </ul>
      <p class="acts">
        <button type="submit" class="sure" disabled={isBusy}>
          {decision.confirm}
        </button>
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      </p>
      {problem && <p role="alert">{problem}</p>}
    </form>
  );
}

interface LabelledProps {
  readonly field: Field;
  readonly choose: (value: string) => void;
}

function Labelled({ field, choose }: LabelledProps) {
  const { name, label, initial, choices, isLong, isOptional, maxLength, number } = field;
  const id = useId();
  const common = { id, name, defaultValue: initial, spellcheck: false, required: !isOptional };
  return (
    <label for={id}>
      {label}
      {choices ? (
        <select id={id} name={name} onChange={(event) => choose(event.currentTarget.value)}>
          {choices.map(([value, text]) => (
            <option key={value} value={value} selected={value === initial}>
              {text}
            </option>
          ))}
        </select>
      ) : isLong ? (
        <textarea rows={3} {...common} />
      ) : (
        <input
          {...common}
          maxLength={maxLength}
          inputMode={number && "numeric"}
          pattern={number?.[0]}
          title={number?.[1]}
        />
      )}
    </label>
  );
}
