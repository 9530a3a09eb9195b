/** Decisions as buttons. Each opens a form that says what follows, asks for a name and a reason, and then does it. */
import type { TargetedSubmitEvent } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Perform } from "./act-button.tsx";

export interface Decision {
  readonly act: Readonly<Record<string, unknown>>;
  /** What the button says. */
  readonly name: string;
  /** What follows, in sentences. */
  readonly consequences: readonly string[];
  /** Asks for the answer that callers get, or for the result of a step. */
  readonly answer?: "json" | "response" | "step" | undefined;
  /** Asks from which of these steps to run again, and for the new key. */
  readonly forkSteps?: readonly string[];
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
  const [by, setBy] = useState(lastName);
  const [why, setWhy] = useState("");
  const [kind, setKind] = useState(decision.answer);
  const [answer, setAnswer] = useState("");
  const [status, setStatus] = useState("200");
  const [body, setBody] = useState("");
  const { forkSteps } = decision;
  const [from, setFrom] = useState(forkSteps?.[0]);
  const [as, setAs] = useState("");
  const [problem, setProblem] = useState("");
  const [isBusy, work] = useState(false);
  // Before the next key is handled: after the paint, the focus would jump away from an operator who already types.
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>("input, select")?.focus(), []);
  const given = kind === "response" ? { status, body } : { answer };
  // Only the form is closed: the key stays open.
  const leave = (event: KeyboardEvent) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    cancel();
  };
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    lastName = by;
    work(true);
    const { done, message } = await perform({
      ...decision.act,
      ...(kind !== undefined && given),
      ...(forkSteps && { from, as }),
      by,
      why,
    });
    work(false);
    if (!done) return setProblem(message);
    // The button that was pressed is often gone by now.
    document.getElementById("told")?.focus();
    close();
  };
  return (
    <form
      ref={form}
      class="decision-form"
      onSubmit={submit}
      onKeyDown={leave}
      autocomplete="off"
      aria-label={`${decision.name} ${about}`}
    >
      {decision.answer && decision.answer !== "step" && (
        <label>
          Answer that callers get
          <select
            value={kind}
            onChange={(event) => setKind(event.currentTarget.value as "json" | "response")}
          >
            <option value="json">JSON value</option>
            <option value="response">HTTP response</option>
          </select>
        </label>
      )}
      {forkSteps && (
        <>
          <label>
            First step that runs again
            <select value={from} onChange={(event) => setFrom(event.currentTarget.value)}>
              {forkSteps.map((step) => (
                <option key={step}>{step}</option>
              ))}
            </select>
          </label>
          <label>
            New idempotency key
            <input
              required
              maxLength={255}
              value={as}
              spellcheck={false}
              onInput={(event) => setAs(event.currentTarget.value)}
            />
          </label>
        </>
      )}
      {kind !== undefined && kind !== "response" && (
        <label>
          {kind === "step" ? "Result of the step (JSON, or null)" : "Answer (JSON, or null)"}
          <input
            required
            value={answer}
            spellcheck={false}
            onInput={(event) => setAnswer(event.currentTarget.value)}
          />
        </label>
      )}
      {kind === "response" && (
        <>
          <label>
            Status
            <input
              required
              inputMode="numeric"
              pattern="[1-5][0-9][0-9]"
              title="a status from 100 to 599"
              value={status}
              onInput={(event) => setStatus(event.currentTarget.value)}
            />
          </label>
          <label>
            Body
            <textarea
              rows={2}
              value={body}
              spellcheck={false}
              onInput={(event) => setBody(event.currentTarget.value)}
            />
          </label>
        </>
      )}
      <label>
        Your name
        <input required maxLength={256} value={by} onInput={(event) => setBy(event.currentTarget.value)} />
      </label>
      <label>
        Reason
        <input required maxLength={256} value={why} onInput={(event) => setWhy(event.currentTarget.value)} />
      </label>
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
