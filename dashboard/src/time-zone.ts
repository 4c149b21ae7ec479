/** Local times in the time zone of the business, in which promotions begin and end and days of reports are counted. */

/** So long before and after a time the clocks change at most once, and no zone is as far from UTC. */
const DAY_MS = 86_400_000;

/**
 * `2026-11-16T09:00` in the zone, as an instant. A time that comes twice in autumn is the first of both; one that is skipped in
 * spring is later by as much as the clocks skip. For both of these the offset from before the change is right.
 */
export function instantOf(localTime: string, timeZone: string): string {
  const asUtc = Date.parse(`${localTime}Z`);
  const before = asUtc - offsetMs(asUtc - DAY_MS, timeZone);
  const after = asUtc - offsetMs(asUtc + DAY_MS, timeZone);
  const isShown = (instantMs: number) => instantMs + offsetMs(instantMs, timeZone) === asUtc;
  return new Date(isShown(after) && !isShown(before) ? after : before).toISOString();
}

/** An instant as `2026-11-16T09:00` in the zone: what a field of type datetime-local shows. */
export function localTimeOf(instant: string, timeZone: string): string {
  const ms = Date.parse(instant);
  return new Date(ms + offsetMs(ms, timeZone)).toISOString().slice(0, 16);
}

/** How far the zone is ahead of UTC at an instant. */
function offsetMs(instantMs: number, timeZone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(new Date(instantMs));
  const part = (type: string) => Number(parts.find((one) => one.type === type)?.value ?? 0);
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return local - Math.floor(instantMs / 1_000) * 1_000;
}
