import { useEffect, useState } from 'react';
import { formatExactTime, formatRelative } from '../format.ts';

const TICK_MS = 30_000;

type TimeProps = {
  at: string;
  /** It is meant to be in the future, as a retry is. */
  isPlanned?: boolean;
  /** The zone of the exact time; the browser's own without it. */
  timeZone?: string;
};

/** How long ago, with the exact time on hover. */
export function Time({ at, isPlanned = false, timeZone }: TimeProps) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((count) => count + 1), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  // The clock is read each time: a newer `at` may come between two ticks, and would be ahead of the last one.
  return (
    <time dateTime={at} title={formatExactTime(at, timeZone)}>
      {formatRelative(at, { isPlanned })}
    </time>
  );
}
