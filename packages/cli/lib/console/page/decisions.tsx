/** Executions against replays as they happen: a minute of both as columns, all counts, and the latest decisions. */
import type { DecisionLine, DecisionsLook } from "../look.ts";
import { KeyButton } from "./records.tsx";
import { clockOf } from "./words.ts";

const SECONDS = 60;
const SHOWN = 12;

export interface DecisionsProps {
  readonly decisions: DecisionsLook;
  readonly now: number;
  readonly open: (keyHash: string) => void;
}

export function Decisions({ decisions: { counts, latest }, now, open }: DecisionsProps) {
  const { executed = 0, replayed = 0, ...others } = counts;
  return (
    <section aria-labelledby="decisions">
      <h2 id="decisions">Executions against replays</h2>
      <dl class="counts">
        <Count name="executed" count={executed} />
        <Count name="replayed" count={replayed} />
        {Object.entries(others).map(([name, count]) => (
          <Count key={name} name={name} count={count} />
        ))}
      </dl>
      <Minute latest={latest} now={now} />
      {latest.length === 0 ? (
        <p class="nothing">
          No decisions yet. They're read from the functions' logs: give your handlers{" "}
          <code>observe: emfMetrics()</code>.
        </p>
      ) : (
        <table>
          <caption class="hidden">Latest decisions</caption>
          <thead>
            <tr>
              <th scope="col">Time</th>
              <th scope="col">Decision</th>
              <th scope="col">Operation</th>
              <th scope="col">Key</th>
              <th scope="col" class="number">
                ms
              </th>
            </tr>
          </thead>
          <tbody>
            {latest.slice(0, SHOWN).map((line) => (
              <tr key={line.number}>
                <td>{clockOf(line.at)}</td>
                <td>
                  <span class={`decision ${line.decision}`}>{line.decision}</span>
                  {line.errorName && <small> {line.errorName}</small>}
                </td>
                <td>{line.operation}</td>
                <td>{line.keyHash && <KeyButton keyHash={line.keyHash} open={open} />}</td>
                <td class="number">{line.durationMs}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Count({ name, count }: { readonly name: string; readonly count: number }) {
  return (
    <div class={`decision ${name}`}>
      <dt>{name}</dt>
      <dd>{count}</dd>
    </div>
  );
}

const HEIGHT = 40;

/** Executed above the line, replayed below it. */
function Minute({ latest, now }: { readonly latest: readonly DecisionLine[]; readonly now: number }) {
  const columns = Array.from({ length: SECONDS }, () => ({ executed: 0, replayed: 0 }));
  for (const { at, decision } of latest) {
    const column = columns[SECONDS - 1 - Math.floor((now - at) / 1000)];
    if (column && (decision === "executed" || decision === "replayed")) column[decision]++;
  }
  const most = Math.max(1, ...columns.flatMap(({ executed, replayed }) => [executed, replayed]));
  const scale = (HEIGHT / 2 - 1) / most;
  return (
    <svg
      class="minute"
      viewBox={`0 0 ${SECONDS * 4} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label="The last minute: executions above the line, replays below it"
    >
      {columns.map(({ executed, replayed }, second) => (
        <g key={second}>
          <rect
            class="executed"
            x={second * 4}
            width={3}
            y={HEIGHT / 2 - executed * scale}
            height={executed * scale}
          />
          <rect class="replayed" x={second * 4} width={3} y={HEIGHT / 2} height={replayed * scale} />
        </g>
      ))}
      <line x1={0} x2={SECONDS * 4} y1={HEIGHT / 2} y2={HEIGHT / 2} />
    </svg>
  );
}
