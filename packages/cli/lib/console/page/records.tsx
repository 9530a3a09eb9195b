/** The records as rows, by state. Arrow keys move between them. */
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
        <table id="records-list">
          <caption class="hidden">Records, the latest first</caption>
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">Operation</th>
              <th scope="col" class="wide">
                Scope
              </th>
              <th scope="col">State</th>
              <th scope="col" class="wide number">
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
      <td class="operation">{row.operation}</td>
      <td class="wide">{row.scope || "–"}</td>
      <td>
        <span class={`state ${row.state}`}>{row.state}</span>
      </td>
      <td class="wide number">{row.attempt || ""}</td>
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

/** From the row that has the focus or the open key; from the first one, on a fresh page. */
export function moveBetweenKeys(step: 1 | -1, opened: string | undefined): void {
  const buttons = [...document.querySelectorAll<HTMLButtonElement>("#records-list button.key")];
  const focused = buttons.indexOf(document.activeElement as HTMLButtonElement);
  const place = focused < 0 ? buttons.findIndex(({ title }) => title === opened) : focused;
  buttons[place < 0 ? 0 : Math.min(buttons.length - 1, Math.max(0, place + step))]?.focus();
}
