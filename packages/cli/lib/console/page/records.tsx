/** The records as rows, by state. Arrow keys move between them. */
import type { TargetedKeyboardEvent } from "preact";
import { useState } from "preact/hooks";
import type { ConsoleLook, RecordRow } from "../look.ts";
import { agoOf, STATES, shortHash } from "./words.ts";

const SHOWN = 50;

export interface RecordsProps {
  readonly look: ConsoleLook;
  readonly open: (keyHash: string) => void;
  readonly opened: string | undefined;
}

export function Records({ look, open, opened }: RecordsProps) {
  const [state, choose] = useState<string | undefined>();
  const countOf = (wanted: string) => look.records.filter((row) => row.state === wanted).length;
  const rows = look.records
    .filter((row) => state === undefined || row.state === state)
    .toSorted((one, other) => lastOf(other) - lastOf(one));
  return (
    <section aria-labelledby="records">
      <h2 id="records">Records</h2>
      <p class="note">
        {look.areAllRecords
          ? "All records of the local tables."
          : "Keys that aren't settled, from the sparse index. Use Find for any other key."}
      </p>
      <fieldset class="states">
        <legend class="hidden">Show the records of a state</legend>
        <StateButton
          name="all"
          count={look.records.length}
          isOn={state === undefined}
          choose={() => choose(undefined)}
        />
        {STATES.filter((each) => countOf(each) > 0 || each === state).map((each) => (
          <StateButton
            key={each}
            name={each}
            count={countOf(each)}
            isOn={state === each}
            choose={() => choose(state === each ? undefined : each)}
          />
        ))}
      </fieldset>
      {rows.length === 0 ? (
        <p class="nothing">Nothing here.</p>
      ) : (
        <table onKeyDown={moveBetweenRows}>
          <caption class="hidden">Records, the latest first</caption>
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Operation</th>
              <th scope="col">Scope</th>
              <th scope="col">State</th>
              <th scope="col" class="number">
                Attempt
              </th>
              <th scope="col">Since</th>
            </tr>
          </thead>
          <tbody>
            {rows.slice(0, SHOWN).map((row) => (
              <Row key={row.keyHash} row={row} now={look.at} open={open} isOpen={row.keyHash === opened} />
            ))}
          </tbody>
        </table>
      )}
      {(rows.length > SHOWN || look.hasMore) && (
        <p class="note">There are more records: only the first {Math.min(SHOWN, rows.length)} are shown.</p>
      )}
    </section>
  );
}

/** The end of a lease that runs lies ahead. */
const lastOf = ({ since, createdAt, state }: RecordRow) => (state === "in-progress" ? createdAt : since);

interface StateButtonProps {
  readonly name: string;
  readonly count: number;
  readonly isOn: boolean;
  readonly choose: () => void;
}

function StateButton({ name, count, isOn, choose }: StateButtonProps) {
  return (
    <button type="button" class={`chip ${name}`} aria-pressed={isOn} onClick={choose}>
      {name} <b>{count}</b>
    </button>
  );
}

interface RowProps {
  readonly row: RecordRow;
  readonly now: number;
  readonly open: (keyHash: string) => void;
  readonly isOpen: boolean;
}

function Row({ row, now, open, isOpen }: RowProps) {
  return (
    <tr class={isOpen ? "open" : ""}>
      <td>
        <KeyButton keyHash={row.keyHash} open={open} isOpen={isOpen} />
      </td>
      <td>{row.operation}</td>
      <td>{row.scope || "–"}</td>
      <td>
        <span class={`state ${row.state}`}>{row.state}</span>
      </td>
      <td class="number">{row.attempt || ""}</td>
      <td>{agoOf(row.state === "in-progress" ? row.createdAt : row.since, now)}</td>
    </tr>
  );
}

interface KeyButtonProps {
  readonly keyHash: string;
  readonly open: (keyHash: string) => void;
  readonly isOpen?: boolean;
}

/** Opens the life of a key. */
export function KeyButton({ keyHash, open, isOpen = false }: KeyButtonProps) {
  return (
    <button type="button" class="key" aria-pressed={isOpen} title={keyHash} onClick={() => open(keyHash)}>
      {shortHash(keyHash)}
    </button>
  );
}

function moveBetweenRows(event: TargetedKeyboardEvent<HTMLTableElement>): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  const buttons = [...event.currentTarget.querySelectorAll<HTMLButtonElement>("button.key")];
  const place = buttons.indexOf(document.activeElement as HTMLButtonElement);
  buttons[place + step]?.focus();
  event.preventDefault();
}
