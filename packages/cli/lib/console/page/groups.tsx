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
        <p class="nothing">Nothing is waiting.</p>
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
      {oldest && oldest.since > 0 && <p class="note">Oldest since {agoOf(oldest.since, now)}.</p>}
      <p class="keys">
        {members.slice(0, SHOWN).map(({ keyHash }) => (
          <KeyButton key={keyHash} keyHash={keyHash} open={open} />
        ))}
        {members.length > SHOWN && <span>and {members.length - SHOWN} more</span>}
      </p>
      {perform && <Acts id={id} list={list} why={why} count={members.length} perform={perform} />}
    </li>
  );
}

interface ActsProps extends Pick<FailureGroup, "id" | "list" | "why"> {
  readonly count: number;
  readonly perform: Perform;
}

/** Who decides, and why, is stored with each record. */
function Acts({ id, list, why: what, count, perform }: ActsProps) {
  const [by, setBy] = useState("");
  const [why, setWhy] = useState("");
  const button = (act: string, name: string, sure?: string) => (
    <ActButton
      act={{ act, group: id, by, why }}
      perform={perform}
      about={list === "unknown" ? `what is ${what}` : `what ${what}`}
      {...(sure !== undefined && { sure })}
      disabled={by.trim() === "" || why.trim() === ""}
    >
      {name}
    </ActButton>
  );
  return (
    <p class="find">
      <label>
        By <input value={by} maxLength={256} onInput={(event) => setBy(event.currentTarget.value)} />
      </label>
      <label>
        Why <input value={why} maxLength={256} onInput={(event) => setWhy(event.currentTarget.value)} />
      </label>
      {list === "unknown" ? (
        button("did-not-happen", "It did not happen", `Let retries run: ${count}`)
      ) : (
        <>
          {button("retry", "Send again")}
          {button("drop", "Drop", `Drop for good: ${count}`)}
        </>
      )}
    </p>
  );
}
