import { useSession } from '../../shell/session/session.ts';
import { Time } from '../../ui/time.tsx';

/** When something was done, in the zone of the business: the log is filtered by its days. */
export function BusinessTime({ at }: { at: string }) {
  return <Time at={at} timeZone={useSession().organization.time_zone} />;
}
