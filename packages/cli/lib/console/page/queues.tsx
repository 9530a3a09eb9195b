/** The queues of a local run, and what their dead-letter queues hold. */
import type { QueueLook } from "../look.ts";
import { ActButton, type Perform } from "./act-button.tsx";

export interface QueuesProps {
  readonly queues: readonly QueueLook[];
  readonly mayWrite: boolean;
  readonly perform: Perform;
}

export function Queues({ queues, mayWrite, perform }: QueuesProps) {
  return (
    <section aria-labelledby="queues">
      <h2 id="queues">Queues and dead letters</h2>
      {queues.length === 0 ? (
        <p class="nothing">No queues.</p>
      ) : (
        <table>
          <caption class="hidden">Messages in each queue</caption>
          <thead>
            <tr>
              <th scope="col">Queue</th>
              <th scope="col" class="number">
                Visible
              </th>
              <th scope="col" class="number">
                In flight
              </th>
              <th scope="col" class="number">
                Delayed
              </th>
            </tr>
          </thead>
          <tbody>
            {queues.map(({ path, visible, inFlight, delayed, deadLettersOf }) => (
              <tr key={path} class={deadLettersOf.length > 0 && visible > 0 ? "alarming" : ""}>
                <td>
                  {path}
                  {deadLettersOf.length > 0 && <small> dead letters of {deadLettersOf.join(", ")}</small>}{" "}
                  {mayWrite && deadLettersOf.length > 0 && visible > 0 && (
                    <ActButton act={{ act: "redrive", path }} perform={perform} about={path}>
                      Send back
                    </ActButton>
                  )}
                </td>
                <td class="number">{visible}</td>
                <td class="number">{inFlight}</td>
                <td class="number">{delayed}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
