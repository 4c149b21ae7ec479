import { useEffect, useState } from 'react';
import { formatExactTime, formatRelative } from '../format.ts';

const TICK_MS = 30_000;

/** How long ago, with the exact time on hover. */
export function Time({ at }: { at: string }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={formatExactTime(at)}>
      {formatRelative(at, now)}
    </time>
  );
}
