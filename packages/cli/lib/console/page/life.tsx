/** The life of one key as a timeline, and the form that finds a key. The key goes to the server in a body, and is forgotten. */
import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import type { TraceBranch } from "../../tree.ts";
import type { FoundKey, KeyLife } from "../look.ts";
import type { Perform } from "./act-button.tsx";
import { ask } from "./ask.ts";
import { ChildKeys } from "./child-keys.tsx";
import { KeyActs } from "./key-acts.tsx";
import { Messages } from "./messages.tsx";
import { Picture } from "./picture.tsx";

export interface LifeProps {
  readonly life: KeyLife | undefined;
  readonly problem: string | undefined;
  readonly close: () => void;
  readonly open: (keyHash: string) => void;
  readonly now: number;
  /** Absent if the page only reads. */
  readonly perform: Perform | undefined;
}

export function Life({ life, problem, close, open, now, perform }: LifeProps) {
  return (
    <section aria-labelledby="life" class={life ? "life shown" : "life"}>
      <h2 id="life">One key</h2>
      {problem && <p role="alert">{problem}</p>}
      {!life && !problem && <p class="nothing">Choose a key from a list, or find one.</p>}
      {life && (
        <article aria-labelledby="life-name">
          <header>
            <h3 id="life-name" tabIndex={-1}>
              {life.operation}
              {life.scope && <small> of {life.scope}</small>}
            </h3>
            <button type="button" onClick={close}>
              Close <kbd>Esc</kbd>
            </button>
          </header>
          <p class={`state ${life.state}`}>
            {life.state}, attempt {life.attempt}
          </p>
          {perform && <KeyActs key={life.keyHash} life={life} now={now} perform={perform} />}
          {perform && <Messages key={`${life.keyHash} messages`} life={life} perform={perform} />}
          <Picture marks={life.marks} />
          <Tree branches={life.tree} />
          <ChildKeys key={`${life.keyHash} child keys`} life={life} />
          <p class="hash">{`${life.operation}#${life.scope}#${life.keyHash}`}</p>
        </article>
      )}
      <Find open={open} />
    </section>
  );
}

function Tree({ branches }: { readonly branches: readonly TraceBranch[] }) {
  return (
    <ol class="line">
      {branches.map(({ line, below = [] }, place) => (
        <li key={place}>
          {line}
          {below.length > 0 && <Tree branches={below} />}
        </li>
      ))}
    </ol>
  );
}

const NO_RECORD =
  "No record: nothing ran under this operation, scope and key, or its retention has ended. If the table was restored, ask the other system by the child keys before callers retry.";

function Find({ open }: Pick<LifeProps, "open">) {
  const [message, setMessage] = useState("");
  const [absent, setAbsent] = useState<string | undefined>();
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const asked = Object.fromEntries(new FormData(form));
    setMessage("");
    setAbsent(undefined);
    try {
      const { keyHash, isAbsent } = await ask<FoundKey>("find", asked);
      if (isAbsent) {
        setMessage(NO_RECORD);
        setAbsent(keyHash);
      } else {
        form.reset();
        open(keyHash);
      }
    } catch (error) {
      setMessage((error as Error).message);
    }
  };
  return (
    <>
      <form class="find" onSubmit={submit} autocomplete="off">
        <label>
          Operation <input name="operation" maxLength={64} id="find-operation" spellcheck={false} />
        </label>
        <label>
          Scope <input name="scope" maxLength={256} spellcheck={false} />
        </label>
        <label>
          Key <input name="key" required maxLength={512} spellcheck={false} />
        </label>
        <button type="submit">Find</button>
        <p role="status">{message}</p>
      </form>
      {absent && <ChildKeys key={absent} life={{ keyHash: absent, childKeys: {} }} />}
    </>
  );
}
