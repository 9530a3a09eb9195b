/** Erases the answers of everything that an owner has: what it costs to look, then the list, then the decision. */
import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import { CONSEQUENCES } from "../../consequences.ts";
import type { OwnerLook } from "../look.ts";
import type { Perform } from "./act-button.tsx";
import { ask } from "./ask.ts";
import { DecisionButtons } from "./decision-form.tsx";
import { typedField } from "./key-acts.tsx";
import { KeyButton } from "./records.tsx";
import { counted } from "./words.ts";

const SHOWN = 50;

export interface OwnerProps {
  readonly open: (keyHash: string) => void;
  readonly perform: Perform;
}

export function Owner({ open, perform }: OwnerProps) {
  const [asked, setAsked] = useState<Readonly<Record<string, unknown>>>({});
  const [look, setLook] = useState<OwnerLook | undefined>();
  const [problem, setProblem] = useState("");
  const askFor = async (owner: Readonly<Record<string, unknown>>) => {
    setProblem("");
    setAsked(owner);
    try {
      setLook(await ask<OwnerLook>("owned", owner));
    } catch (error) {
      setLook(undefined);
      setProblem((error as Error).message);
    }
  };
  const submit = (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    void askFor(Object.fromEntries(new FormData(event.currentTarget)));
  };
  const erase: Perform = async (act) => {
    const answer = await perform(act);
    if (answer.done) setLook(undefined);
    return answer;
  };
  return (
    <section aria-labelledby="owner">
      <h2 id="owner">A person wants to be forgotten</h2>
      <form class="find" onSubmit={submit} autocomplete="off">
        <label>
          Owner (scope) <input name="scope" maxLength={256} spellcheck={false} />
        </label>
        <label>
          Only of operation <input name="operation" maxLength={64} spellcheck={false} />
        </label>
        <button type="submit">Look for keys</button>
      </form>
      {problem && <p role="alert">{problem}</p>}
      {look && "cost" in look && (
        <p class="acts" role="status">
          {look.cost}
          <button type="button" onClick={() => void askFor({ ...asked, scan: true })}>
            Scan the table
          </button>
        </p>
      )}
      {look && "keys" in look && <Keys look={look} open={open} perform={erase} />}
    </section>
  );
}

interface KeysProps extends OwnerProps {
  readonly look: Extract<OwnerLook, { readonly id: string }>;
}

function Keys({ look: { id, typed, keys }, open, perform }: KeysProps) {
  if (keys.length === 0) return <p role="status">No keys of this owner.</p>;
  const count = counted(keys.length, "key");
  return (
    <>
      <table>
        <caption class="hidden">Keys of the owner</caption>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Operation</th>
          </tr>
        </thead>
        <tbody>
          {keys.slice(0, SHOWN).map(({ keyHash, operation }) => (
            <tr key={keyHash}>
              <td>
                <KeyButton keyHash={keyHash} open={open} />
              </td>
              <td>{operation}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {keys.length > SHOWN && <p class="note">and {keys.length - SHOWN} more</p>}
      <DecisionButtons
        about={`of ${typed}`}
        decisions={[
          {
            act: { act: "erase", owned: id },
            name: `Erase: ${count}`,
            fields: [typedField(typed)],
            consequences: [
              `for each of ${count}: ${CONSEQUENCES.erased}`,
              "a key that isn't finished, or has unsent messages, is left as it is",
            ],
            confirm: `Erase for good: ${count}`,
          },
        ]}
        perform={perform}
      />
    </>
  );
}
