// How many commits a relay sends at the same time, and how many may still be writing their progress.
import { describe, expect, it } from "vitest";
import { CommitWindow } from "../../lib/messaging/commit-window.ts";
import { COMMITS_AT_ONCE } from "../../lib/messaging/sender.ts";
import { gate } from "../kit/time/gate.ts";

const MAX_WORKING = 40;

/** A commit of the window: it leaves first, and ends later. */
function entered(window: CommitWindow) {
  const ended = gate<void>();
  let leave = () => {};
  window.enter((given) => {
    leave = given;
    return ended.opened;
  });
  return { leave, end: ended.open };
}

const many = (window: CommitWindow, count: number) => Array.from({ length: count }, () => entered(window));

/** Whether there is room without anything else happening. */
async function hasRoom(window: CommitWindow): Promise<boolean> {
  let isThere = false;
  void window.room().then(() => {
    isThere = true;
  });
  for (let turns = 0; turns < 20; turns++) await Promise.resolve();
  return isThere;
}

describe("CommitWindow", () => {
  it("has room until as many commits are sent as may be at the same time, and again once one of them has left", async () => {
    const window = new CommitWindow();
    const commits = many(window, COMMITS_AT_ONCE - 1);
    expect([window.isFull, await hasRoom(window)]).toEqual([false, true]);

    commits.push(entered(window));
    expect([window.isFull, await hasRoom(window)]).toEqual([true, false]);
    const waiting = window.room();
    commits[0]?.leave();
    await waiting;

    expect(window.isFull).toBe(false);
    commits.push(entered(window));
    expect([window.isFull, await hasRoom(window)]).toEqual([true, false]);
  });

  it("has no room for more than 40 commits that write their progress", async () => {
    const window = new CommitWindow();
    const commits = [];
    while (commits.length < MAX_WORKING - 1) {
      const commit = entered(window);
      commit.leave();
      commits.push(commit);
    }
    expect([window.isFull, await hasRoom(window)]).toEqual([false, true]);

    const last = entered(window);
    last.leave();
    expect([window.isFull, await hasRoom(window)]).toEqual([true, false]);
    const waiting = window.room();
    commits[5]?.end();
    await waiting;

    expect(window.isFull).toBe(false);
  });

  it("is empty once everything has ended", async () => {
    const window = new CommitWindow();
    const [one, other] = [entered(window), entered(window)];
    let isEmpty = false;
    const emptied = window.empty().then(() => {
      isEmpty = true;
    });

    one.leave();
    one.end();
    other.leave();
    for (let turns = 0; turns < 20; turns++) await Promise.resolve();
    expect(isEmpty).toBe(false);
    other.end();
    await emptied;

    expect(isEmpty).toBe(true);
  });
});
