import type { ToProcess } from '../processes/process-messages.ts';

/**
 * What a terminal, a supervisor or npm sends to end the service. The first signal asks for a clean stop, the second
 * one not to wait for requests any longer, the third ends the process where it stands.
 */
export type StopSignals = {
  /** Aborted by the first signal. */
  stop: AbortSignal;
  /** Aborted by the second. */
  hurry: AbortSignal;
};

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
/**
 * Ctrl-C under npm arrives twice: from the terminal, and passed on by npm, late on a busy machine. Both are one signal.
 */
const SAME_WISH_MS = 1_000;

export function listenForStop(): StopSignals {
  const stop = new AbortController();
  const hurry = new AbortController();
  let lastAt = 0;
  const onSignal = () => {
    const isSameWish = Date.now() - lastAt < SAME_WISH_MS;
    lastAt = Date.now();
    if (isSameWish) return;
    if (hurry.signal.aborted) process.exit(1);
    (stop.signal.aborted ? hurry : stop).abort();
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  ignoreClosedOutput();
  return { stop: stop.signal, hurry: hurry.signal };
}

/**
 * The same for a process that a supervisor has started. A terminal or systemd sends its signal to the supervisor and to this
 * process alike, and the supervisor passes it on: only its word counts.
 */
export function listenToSupervisor(): StopSignals {
  const stop = new AbortController();
  const hurry = new AbortController();
  for (const signal of SIGNALS) process.on(signal, () => {});
  process.on('message', ({ kind }: ToProcess) => {
    if (kind === 'stop' || kind === 'hurry') stop.abort();
    if (kind === 'hurry') hurry.abort();
  });
  ignoreClosedOutput();
  return { stop: stop.signal, hurry: hurry.signal };
}

/** A terminal or pipe that was closed must not end the stop half-way. */
function ignoreClosedOutput(): void {
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
}

/** Resolves when the signal is aborted, at once if it is already. */
export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
