import { type Sql, sql } from '../../db/sql.ts';

/**
 * Which deliveries are due. The alias of the table is `d` everywhere.
 *
 * | status | is_waiting | due_at | where it stands |
 * |---|---|---|---|
 * | pending | false | past | due: in the index deliveries_due, a claim may take it |
 * | failed | true | future | waits for its retry: in the indexes deliveries_waiting_due and deliveries_waiting |
 * | failed | false | past | due: its retry was made due |
 * | held | false | any | its endpoint is off: in the index deliveries_held |
 * | succeeded, dead_letter | false | any | finished |
 *
 * A delivery that is being sent stays due and has a lease: `leased_until` lies in the future.
 */

/** The condition of the partial index deliveries_due, word for word: only so does the server use it. */
export const IN_DUE_INDEX = sql`d.status in ('pending', 'failed') and not d.is_waiting`;

export function isDue(time: Sql): Sql {
  return sql`${IN_DUE_INDEX} and d.due_at <= ${time}`;
}

/** No worker has it: it was never claimed, or the lease of its worker has run out. */
export function isUnleased(time: Sql): Sql {
  return sql`(d.leased_until is null or d.leased_until <= ${time})`;
}
