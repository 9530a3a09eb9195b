/** The keys that a handler passes on to other systems, by the names that it gives them. The server derives them. */
import type { TargetedSubmitEvent } from "preact";
import { useState } from "preact/hooks";
import type { KeyLife } from "../look.ts";
import { ask } from "./ask.ts";

export interface ChildKeysProps {
  readonly life: Pick<KeyLife, "keyHash" | "childKeys">;
}

export function ChildKeys({ life: { keyHash, childKeys } }: ChildKeysProps) {
  const [asked, setAsked] = useState<Readonly<Record<string, string>>>({});
  const [problem, setProblem] = useState("");
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = new FormData(event.currentTarget);
    const [name, maxLength, hex] = ["name", "maxLength", "hex"].map((field) => `${given.get(field) ?? ""}`);
    setProblem("");
    try {
      const { childKey } = await ask<{ childKey: string }>("child", {
        ...{ keyHash, name },
        ...(maxLength && { maxLength }),
        ...(hex && { hex: true }),
      });
      setAsked((former) => ({ ...former, [`${name}`]: childKey }));
    } catch (error) {
      setProblem((error as Error).message);
    }
  };
  const all = Object.entries({ ...childKeys, ...asked });
  return (
    <details>
      <summary>Child keys, as other systems have them</summary>
      {all.length > 0 && (
        <dl class="child-keys">
          {all.map(([name, childKey]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd class="hash">{childKey}</dd>
            </div>
          ))}
        </dl>
      )}
      <form class="find" onSubmit={submit} autocomplete="off">
        <label>
          Name in childKey(…) <input name="name" required maxLength={64} spellcheck={false} />
        </label>
        <label>
          maxLength, if the handler sets it <input name="maxLength" inputMode="numeric" pattern="[0-9]*" />
        </label>
        <label class="check">
          <input name="hex" type="checkbox" /> format: "hex"
        </label>
        <button type="submit">Show child key</button>
        {problem && <p role="alert">{problem}</p>}
      </form>
    </details>
  );
}
