/**
 * Spreads work over turns of the event loop: so many pieces in each, the first of them at once. Many small things can be due at
 * the same moment, and whoever else waits for the event loop would wait for all of them.
 */
export function spreadOverTurns(perTurn: number): (work: () => void) => void {
  let waiting: (() => void)[] = [];
  let begun = 0;

  function start(work: () => void): void {
    if (begun === 0) setImmediate(nextTurn);
    begun += 1;
    work();
  }

  function nextTurn(): void {
    begun = 0;
    const due = waiting.slice(0, perTurn);
    waiting = waiting.slice(perTurn);
    for (const work of due) start(work);
  }

  return (work) => {
    if (begun < perTurn && waiting.length === 0) start(work);
    else waiting.push(work);
  };
}
