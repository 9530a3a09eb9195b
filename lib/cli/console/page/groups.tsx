/** Groups of failures, and the messages that wait. */
import { useState } from "preact/hooks";
import type { ConsoleLook, FailureGroup } from "../look.ts";
import { ActButton, type Perform } from "./act-button.tsx";
import { KeyButton } from "./records.tsx";
import { agoOf } from "./words.ts";

const SHOWN = 8;

export interface GroupsProps {
  readonly look: ConsoleLook;
  readonly open: (keyHash: string) => void;
  readonly perform: Perform;
}

export function Groups({ look, open, perform }: GroupsProps) {
  return (
    <section aria-labelledby="groups">
      <h2 id="groups">Groups of failures</h2>
      <p class="note">
        Outbox: <b>{look.outbox.waiting}</b> commits wait, <b>{look.outbox.parked}</b> are parked.
      </p>
      {look.groups.length === 0 ? (
        <p class="nothing">Nothing waits for anybody.</p>
      ) : (
        <ul class="cards">
          {look.groups.map((group) => (
            <Group
              key={group.id}
              group={group}
              now={look.at}
              open={open}
              perform={look.mayWrite ? perform : undefined}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

interface GroupProps {
  readonly group: FailureGroup;
  readonly now: number;
  readonly open: (keyHash: string) => void;
  /** Absent where the page only reads. */
  readonly perform: Perform | undefined;
}

function Group({ group: { id, operation, why, members, list }, now, open, perform }: GroupProps) {
  const [oldest] = members;
  return (
    <li class={`card ${list}`}>
      <h3>
        {operation || "unknown operation"} <b>{members.length}</b>
      </h3>
      <p>{why}</p>
      {oldest && oldest.since > 0 && <p class="note">The oldest since {agoOf(oldest.since, now)}.</p>}
      <p class="keys">
        {members.slice(0, SHOWN).map(({ keyHash }) => (
          <KeyButton key={keyHash} keyHash={keyHash} open={open} />
        ))}
        {members.length > SHOWN && <span>and {members.length - SHOWN} more</span>}
      </p>
      {perform && list === "unknown" && (
        <Verdict id={id} why={why} count={members.length} perform={perform} />
      )}
      {perform && list !== "unknown" && (
        <p class="acts">
          <ActButton act={{ act: "retry", group: id }} perform={perform} about={`what ${why}`}>
            Send again
          </ActButton>
          <ActButton
            act={{ act: "drop", group: id }}
            perform={perform}
            about={`what ${why}`}
            sure={`Drop for good: ${members.length}`}
          >
            Drop
          </ActButton>
        </p>
      )}
    </li>
  );
}

interface VerdictProps {
  readonly id: string;
  readonly why: string;
  readonly count: number;
  readonly perform: Perform;
}

/** Who says that nothing happened, and why, is stored with each record. */
function Verdict({ id, why: what, count, perform }: VerdictProps) {
  const [by, setBy] = useState("");
  const [why, setWhy] = useState("");
  return (
    <p class="find">
      <label>
        By <input value={by} maxLength={256} onInput={(event) => setBy(event.currentTarget.value)} />
      </label>
      <label>
        Why <input value={why} maxLength={256} onInput={(event) => setWhy(event.currentTarget.value)} />
      </label>
      <ActButton
        act={{ act: "did-not-happen", group: id, by, why }}
        perform={perform}
        about={`what is ${what}`}
        sure={`Let retries run: ${count}`}
        disabled={by.trim() === "" || why.trim() === ""}
      >
        It did not happen
      </ActButton>
    </p>
  );
}
