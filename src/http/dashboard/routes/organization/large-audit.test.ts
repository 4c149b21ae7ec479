import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { explainRead } from '../../../../../test/harness/database/explain.ts';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { watch } from '../../../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { COMMAND_LINE } from '../../../../audit/actor.ts';
import { listAudit } from '../../../../audit/read-audit.ts';
import { LIST_PAGE_BYTES } from '../../../../contract/dashboard/list.ts';
import { sql } from '../../../../db/sql.ts';
import { createItem } from '../../../../inventory/items/item-operations.ts';

/** Beside the values that are counted, an answer has a few hundred bytes for each row. */
const ANSWER_BYTES_LIMIT = LIST_PAGE_BYTES + 65_536;
const LARGE_ROWS = 40;
/** One row has more than a page may have. */
const LARGEST_CHARACTERS = 2_000_000;

type Listed = { data: { id: string }[]; next_cursor: string | null; previous_cursor: string | null };

describe('an audit log with long texts in the dashboard', () => {
  let world: World;
  let owner: Awaited<ReturnType<typeof signedIn>>;
  let ids: string[];
  before(async () => {
    world = await startWorld();
    owner = await signedIn(world);
    // Every second row is large, and one of them larger than a page.
    await world.db.query(sql`
      insert into audit_log (organization_id, id, at, actor_kind, action, object_kind, object_id, old_values, new_values)
      select ${owner.organizationId}, 'aud_large' || lpad(n::text, 4, '0'), clock_timestamp() - n * interval '1 minute',
        'command_line', 'item.edited', 'item', 'lst_large', '{}', jsonb_build_object('description', repeat('x',
          case when n = 20 then ${LARGEST_CHARACTERS}::integer when n % 2 = 0 then 240000 else 10 end))
      from generate_series(1, ${2 * LARGE_ROWS}) as n`);
    await world.db.query(sql`
      insert into audit_log (organization_id, id, actor_kind, action, object_kind)
      values (${owner.organizationId}, 'aud_many', 'command_line', 'item.edited', 'item')`);
    await world.db.query(sql`
      insert into audit_log_objects (organization_id, audit_id, object_id, old_values, new_values)
      select ${owner.organizationId}, 'aud_many', 'lst_' || lpad(n::text, 4, '0'), '{}',
        jsonb_build_object('description', repeat('x', 240000))
      from generate_series(1, ${LARGE_ROWS}) as n`);
    const rows = await world.db.query<{ id: string }>(sql`
      select id from audit_log where organization_id = ${owner.organizationId} order by at desc, id desc`);
    ids = rows.map(({ id }) => id);
  });
  after(() => world.stop());

  /** All pages from a query on, and of each how many bytes it has. */
  async function walk(path: string, follow: (page: Listed) => string | null) {
    const pages: { ids: string[]; bytes: number }[] = [];
    let last: Listed | null = null;
    for (let at: string | null = path; at !== null; ) {
      const { status, body, text } = await owner.call('GET', at);
      assert.equal(status, 200, text.slice(0, 200));
      last = body as Listed;
      pages.push({ ids: last.data.map(({ id }) => id), bytes: Buffer.byteLength(text) });
      assert.ok(last.data.length > 0, 'a page has at least one row');
      at = follow(last);
    }
    return { pages, last };
  }

  function assertSmall(pages: { ids: string[]; bytes: number }[]) {
    for (const { ids, bytes } of pages) {
      assert.ok(ids.length === 1 || bytes < ANSWER_BYTES_LIMIT, `a page of ${ids.length} rows has ${bytes} bytes`);
    }
  }

  it('is read in pages of about a megabyte, forwards and backwards, without skipping a row', async () => {
    const path = '/audit?limit=200';
    const forwards = await walk(path, ({ next_cursor: next }) => (next === null ? null : `${path}&after=${next}`));
    assertSmall(forwards.pages);
    assert.deepEqual(
      forwards.pages.flatMap((page) => page.ids),
      ids,
    );
    const start = `${path}&before=${forwards.last?.previous_cursor}`;
    const backwards = await walk(start, ({ previous_cursor: previous }) =>
      previous === null ? null : `${path}&before=${previous}`,
    );
    assertSmall(backwards.pages);
    const ofLastPage = forwards.pages.at(-1)?.ids ?? [];
    assert.deepEqual([...backwards.pages.toReversed().flatMap((page) => page.ids), ...ofLastPage], ids);
  });

  it('gets no more from the database than a page holds', async () => {
    const page = { organizationId: owner.organizationId, start: null, limit: 200, bytesLimit: LIST_PAGE_BYTES };
    const { rows, isMore } = await listAudit(world.db, page);
    assert.ok(isMore);
    assert.ok(JSON.stringify(rows).length < ANSWER_BYTES_LIMIT);
  });

  it('shows each object of a change of many, in pages of about a megabyte', async () => {
    const path = '/audit/aud_many/objects';
    const { pages } = await walk(path, ({ next_cursor: next }) => (next === null ? null : `${path}?after=${next}`));
    assertSmall(pages);
    assert.equal(new Set(pages.flatMap((page) => page.ids)).size, LARGE_ROWS);
    assert.equal(pages.flatMap((page) => page.ids).length, LARGE_ROWS);
  });

  it('is exported whole', async () => {
    const { text } = await owner.call('GET', '/audit/export');
    assert.deepEqual(
      ids.filter((id) => !text.includes(`,${id}\r\n`)),
      [],
    );
    assert.equal(text.match(/aud_large\d+\r\n/g)?.length, 2 * LARGE_ROWS);
  });

  it('shortens long names of what the values mean', async () => {
    const itemId = await createItem(
      world.channel,
      COMMAND_LINE,
      owner.organizationId,
      watch({ title: 'T'.repeat(400) }),
    );
    await world.db.query(sql`
      insert into audit_log (organization_id, id, actor_kind, action, object_kind, object_id, new_values)
      values (${owner.organizationId}, 'aud_named', 'command_line', 'order.line_matched', 'order', 'ord_named',
        jsonb_build_object('matches', jsonb_build_object('lin_1', ${itemId}::text)))`);
    const { body } = await owner.call('GET', '/audit?object_id=ord_named');
    assert.equal(body.data[0].names[itemId], `${'T'.repeat(100)}…`);
  });

  it('measures the rows of one page, not those of the whole log', async () => {
    await world.db.query(sql`
      insert into audit_log (organization_id, id, at, actor_kind, action, object_kind, object_id, old_values, new_values)
      select 'org_long', 'aud_' || lpad(n::text, 6, '0'), clock_timestamp() - n * interval '1 minute', 'command_line',
        'item.edited', 'item', 'lst_' || n % 100, '{}', jsonb_build_object('description', repeat('x', 3000))
      from generate_series(1, 30000) as n`);
    await world.db.query(sql`analyze audit_log`);
    const page = { organizationId: 'org_long', start: null, limit: 200, bytesLimit: LIST_PAGE_BYTES };
    const filters = [{}, { action: 'item.edited' }, { objectKind: 'item' }, { objectId: 'lst_7' }] as const;
    for (const filter of filters) {
      const [read] = await explainRead(world.db, (db) => listAudit(db, { ...page, ...filter }));
      // Each row is looked up by its key three times: for its size, its values and whether it was undone.
      assert.ok((read?.pages ?? Number.NaN) < 6_000, `${JSON.stringify(filter)} read ${read?.pages} pages`);
    }
  });
});
