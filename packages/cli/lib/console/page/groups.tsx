/** Groups of failures, and the messages that wait. */
import { useState } from "preact/hooks";
import { CONSEQUENCES } from "../../consequences.ts";
import type { ConsoleLook, FailureGroup } from "../look.ts";
import type { Perform } from "./act-button.tsx";
import { type Decision, DecisionButtons } from "./decision-form.tsx";
import { answerFields } from "./key-acts.tsx";
import { KeyButton } from "./records.tsx";
import { agoOf, counted } from "./words.ts";

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

/** The list stays as it was opened: what's decided is about the keys that the person has seen. */
function Group({ group, now, open, perform }: GroupProps) {
  const { operation, why, members, list } = group;
  const [reviewed, review] = useState<FailureGroup["members"] | undefined>();
  const [oldest] = members;
  const what = counted(members.length, list === "unknown" ? "key" : "commit");
  return (
    <li class={`card ${list}`}>
      <h3>
        {operation || "unknown operation"} <b>{members.length}</b>
      </h3>
      <p>{why}</p>
      {oldest && oldest.since > 0 && <p class="note">Oldest since {agoOf(oldest.since, now)}.</p>}
      {!reviewed && (
        <p class="keys">
          {members.slice(0, SHOWN).map(({ keyHash }) => (
            <KeyButton key={keyHash} keyHash={keyHash} open={open} />
          ))}
          {members.length > SHOWN && <span>and {members.length - SHOWN} more</span>}
        </p>
      )}
      {perform && (
        <>
          <p class="acts">
            <button
              type="button"
              class="act"
              aria-expanded={reviewed !== undefined}
              onClick={() => review(reviewed ? undefined : members)}
            >
              {reviewed ? "Close the list" : `List and decide: ${what}`}
              <span class="hidden">
                {" "}
                of {operation}, {why}
              </span>
            </button>
          </p>
          {reviewed && (
            <Reviewed group={{ ...group, members: reviewed }} now={now} open={open} perform={perform} />
          )}
        </>
      )}
    </li>
  );
}

function Reviewed({ group, now, open, perform }: GroupProps & { readonly perform: Perform }) {
  const { operation, why, members, list } = group;
  return (
    <>
      <table>
        <caption class="hidden">
          Keys of {operation}, {why}
        </caption>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Operation</th>
            <th scope="col">Since</th>
          </tr>
        </thead>
        <tbody>
          {members.map(({ keyHash, since }) => (
            <tr key={keyHash}>
              <td>
                <KeyButton keyHash={keyHash} open={open} />
              </td>
              <td>{operation}</td>
              <td>{agoOf(since, now)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <DecisionButtons
        about={`for ${operation}, ${why}`}
        decisions={list === "unknown" ? outcomes(group) : fates(group)}
        perform={perform}
      />
    </>
  );
}

/** Only the keys in the list that the person sees. */
const actOn = (act: string, { id, members }: FailureGroup) => ({
  ...{ act, group: id },
  keys: members.map(({ keyHash }) => keyHash),
});

function outcomes(group: FailureGroup): readonly Decision[] {
  const keys = counted(group.members.length, "key");
  return [
    {
      act: actOn("happened", group),
      name: `It happened: ${keys}`,
      fields: answerFields(false),
      consequences: [
        `every caller of ${keys} will get this same answer: if the answers differ, open the keys one by one`,
        CONSEQUENCES.happened,
      ],
      confirm: `Record for ${keys}: it happened`,
    },
    {
      act: actOn("did-not-happen", group),
      name: `It did not happen: ${keys}`,
      consequences: [`${CONSEQUENCES.runs}, for each of ${keys}`, "a key with an open step is left as it is"],
      confirm: `Let retries run: ${keys}`,
    },
  ];
}

function fates(group: FailureGroup): readonly Decision[] {
  const commits = counted(group.members.length, "commit");
  return [
    {
      act: actOn("retry", group),
      name: `Send again: ${commits}`,
      consequences: [`the messages of ${commits} are sent as if they had never been tried`],
      confirm: `Send the messages of ${commits} again`,
    },
    {
      act: actOn("drop", group),
      name: `Drop: ${commits}`,
      consequences: [`the messages of ${commits} are never sent: this can't be taken back`],
      confirm: `Drop for good: ${commits}`,
    },
  ];
}
