/**
 * Calls for the same key that come while one is under way join it and get its result, or its error. A result is never
 * kept: the next call after the end starts anew.
 *
 * A caller may bring a signal and leave by it. When the last one has left, the work's own signal is aborted and the key
 * is free, so that work whose clients have gone does not go on for nobody.
 */
export type SingleFlight<Result> = (
  key: string,
  work: (signal: AbortSignal) => Promise<Result>,
  options?: { signal?: AbortSignal | undefined },
) => Promise<Result>;

type Flight<Result> = { result: Promise<Result>; callers: number; stopping: AbortController };

export function createSingleFlight<Result>(): SingleFlight<Result> {
  const flights = new Map<string, Flight<Result>>();

  function start(key: string, work: (signal: AbortSignal) => Promise<Result>): Flight<Result> {
    const stopping = new AbortController();
    const flight: Flight<Result> = {
      result: Promise.resolve()
        .then(() => work(stopping.signal))
        .finally(() => end(key, flight)),
      callers: 0,
      stopping,
    };
    flights.set(key, flight);
    return flight;
  }

  /** Another flight may have the key by now. */
  function end(key: string, flight: Flight<Result>): void {
    if (flights.get(key) === flight) flights.delete(key);
  }

  function leave(key: string, flight: Flight<Result>, reason: unknown): void {
    flight.callers -= 1;
    if (flight.callers > 0) return;
    end(key, flight);
    flight.stopping.abort(reason);
  }

  return async (key, work, { signal } = {}) => {
    signal?.throwIfAborted();
    const flight = flights.get(key) ?? start(key, work);
    flight.callers += 1;
    if (signal === undefined) return await flight.result;
    return await new Promise<Result>((resolve, reject) => {
      const onAbort = () => {
        leave(key, flight, signal.reason);
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort);
      flight.result.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
    });
  };
}
