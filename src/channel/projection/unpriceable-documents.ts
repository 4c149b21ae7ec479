import { sql } from '../../db/sql.ts';

/** How many documents of the integration `i`, in the version that its client reads, have no price that could be served. */
export const UNPRICEABLE_COUNT = sql`(
  select count(*) from channel_documents d
  where d.integration_id = i.id and d.api_version = i.api_version and d.is_unpriceable)`;
