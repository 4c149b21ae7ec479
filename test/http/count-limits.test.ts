import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import sharp from 'sharp';
import type { Actor } from '../../src/audit/actor.ts';
import {
  BUSINESS_UNITS_LIMIT,
  INTEGRATIONS_LIMIT,
  LOCATIONS_LIMIT,
  OPEN_INVITATIONS_LIMIT,
  PROMOTIONS_PER_ITEM_LIMIT,
  SESSIONS_LIMIT,
  TEAM_MEMBERS_LIMIT,
  UNFINISHED_JOBS_LIMIT,
  VIEWS_LIMIT,
} from '../../src/contract/dashboard/limits.ts';
import { DomainError } from '../../src/contract/domain-error.ts';
import { PHOTOS_PER_ITEM_LIMIT } from '../../src/contract/limits.ts';
import { type Sql, sql } from '../../src/db/sql.ts';
import { createIntegration } from '../../src/dealers/integrations/integrations.ts';
import { createView } from '../../src/dealers/saved-views.ts';
import { endOldestSessions } from '../../src/dealers/users/account.ts';
import { inviteMember } from '../../src/dealers/users/invitations-and-resets.ts';
import { insertUser } from '../../src/dealers/users/users.ts';
import { createItem } from '../../src/inventory/items/item-operations.ts';
import { startJob } from '../../src/inventory/jobs/stock-job-queue.ts';
import { createBusinessUnit, createLocation } from '../../src/inventory/locations.ts';
import { TooManyUploadsError } from '../../src/inventory/photos/encode-photos.ts';
import { addPhoto } from '../../src/inventory/photos/photos.ts';
import { startPromotion } from '../../src/inventory/promotions.ts';
import { TESTER } from '../harness/actor.ts';
import { TEST_PASSWORD_HASH } from '../harness/passwords.ts';
import { watch } from '../harness/stock.ts';
import { type Dealer, startWorld, type World } from '../harness/world.ts';

const AT_ONCE = 50;
/** How many are missing to the limit when the requests come. */
const FREE = 3;
const HOUR_MS = 3_600_000;

/** Something that is counted before one more is made. */
type Counted = {
  what: string;
  limit: number;
  code: string;
  /** Makes so many rows, in one statement. */
  fill(count: number): Sql;
  make(index: number): Promise<unknown>;
  /** Those that count. */
  rows(): Sql;
};

describe('a limit on how many there may be', () => {
  let world: World;
  let dealer: Dealer;
  let person: Actor;
  let unitId: string;
  let itemId: string;
  let picture: Buffer;
  before(async () => {
    world = await startWorld();
    picture = await sharp({ create: { width: 2, height: 2, channels: 3, background: 'red' } })
      .jpeg()
      .toBuffer();
  });
  after(() => world.stop());
  beforeEach(async () => {
    dealer = await world.dealer();
    person = { kind: 'person', userId: dealer.userId, role: 'owner', address: null };
    unitId = await createBusinessUnit(world.db, TESTER, dealer.organizationId, 'Unit');
    itemId = await createItem(world.channel, TESTER, dealer.organizationId, watch());
  });

  const id = sql`md5(random()::text)`;
  const each = (count: number) => sql`generate_series(1, ${count}::integer) n`;
  const organizationId = () => dealer.organizationId;

  const counted: Counted[] = [
    {
      what: 'unfinished jobs of a dealer',
      limit: UNFINISHED_JOBS_LIMIT,
      code: 'too_many_jobs',
      fill: (count) => sql`
        insert into stock_jobs (id, organization_id, kind, title, actor)
        select ${id}, ${organizationId()}, 'undo', 'x', '{}' from ${each(count)}`,
      make: () =>
        startJob(world.db, person, {
          organizationId: organizationId(),
          kind: 'undo',
          title: 'x',
          parameters: {},
          isUndoable: false,
        }),
      rows: () => sql`select from stock_jobs where organization_id = ${organizationId()}`,
    },
    {
      what: 'people of a team',
      limit: TEAM_MEMBERS_LIMIT,
      code: 'limit_reached',
      // The first one is the dealer's owner.
      fill: (count) => sql`
        insert into users (id, organization_id, name, email, email_verified, role)
        select ${id}, ${organizationId()}, 'x', ${id} || '@x.ch', true, 'staff' from ${each(count - 1)}`,
      make: (index) =>
        insertUser(
          world.db,
          person,
          { organizationId: organizationId(), name: 'x', email: `${organizationId()}.${index}@y.ch`, role: 'staff' },
          TEST_PASSWORD_HASH,
        ),
      rows: () => sql`select from users where organization_id = ${organizationId()}`,
    },
    {
      what: 'open invitations of a dealer',
      limit: OPEN_INVITATIONS_LIMIT,
      code: 'limit_reached',
      fill: (count) => sql`
        insert into sign_in_links (id, kind, token_hash, organization_id, email, role, expires_at)
        select ${id}, 'invitation', ${id}::bytea, ${organizationId()}, ${id} || '@x.ch', 'staff',
          now() + interval '1 day'
        from ${each(count)}`,
      make: (index) =>
        inviteMember(world.db, person, { organizationId: organizationId(), email: `${index}@z.ch`, role: 'staff' }),
      rows: () => sql`select from sign_in_links where organization_id = ${organizationId()}`,
    },
    {
      what: 'business units of a dealer',
      limit: BUSINESS_UNITS_LIMIT,
      code: 'limit_reached',
      fill: (count) => sql`
        insert into business_units (id, organization_id, name)
        select ${id}, ${organizationId()}, 'x' from ${each(count - 1)}`,
      make: () => createBusinessUnit(world.db, person, organizationId(), 'x'),
      rows: () => sql`select from business_units where organization_id = ${organizationId()}`,
    },
    {
      what: 'locations of a dealer',
      limit: LOCATIONS_LIMIT,
      code: 'limit_reached',
      fill: (count) => sql`
        insert into locations (id, organization_id, business_unit_id, name)
        select ${id}, ${organizationId()}, ${unitId}, 'x' from ${each(count)}`,
      make: () => createLocation(world.db, person, organizationId(), unitId, 'x'),
      rows: () => sql`select from locations where organization_id = ${organizationId()}`,
    },
    {
      what: 'integrations that a dealer makes',
      limit: INTEGRATIONS_LIMIT,
      code: 'limit_reached',
      fill: (count) => sql`
        insert into integrations
          (id, organization_id, data_organization_id, user_id, name, key_hash, key_hint, is_test_mode, api_version, currency)
        select ${id}, organization_id, data_organization_id, user_id, name, ${id}::bytea, key_hint, is_test_mode,
          api_version, currency
        from integrations, ${each(count - 1)} where id = ${dealer.integrationId}`,
      make: () =>
        createIntegration(world.db, person, {
          organizationId: organizationId(),
          userId: null,
          name: 'x',
          currency: 'USD',
          isTestMode: true,
        }),
      rows: () => sql`select from integrations where organization_id = ${organizationId()}`,
    },
    {
      what: 'saved views of a person over all lists',
      limit: VIEWS_LIMIT,
      code: 'limit_reached',
      fill: (count) => sql`
        insert into saved_views (id, organization_id, user_id, list, name, query, is_shared, created_at, updated_at)
        select ${id}, ${organizationId()}, ${dealer.userId}, (array['jobs', 'parts'])[1 + n % 2], 'x' || n, '', false,
          now(), now()
        from ${each(count)}`,
      make: (index) =>
        createView(
          world.db,
          person,
          { organizationId: organizationId(), userId: dealer.userId, isOwner: true },
          { list: index % 2 === 0 ? 'orders' : 'sales', name: `${index}`, query: '', isShared: false },
        ),
      rows: () => sql`select from saved_views where user_id = ${dealer.userId}`,
    },
    {
      what: 'promotions of an item',
      limit: PROMOTIONS_PER_ITEM_LIMIT,
      code: 'limit_reached',
      fill: (count) => sql`
        insert into promotions (id, item_id, organization_id, price_amount, starts_at, ends_at)
        select ${id}, ${itemId}, ${organizationId()}, 1, now() - n * interval '2 days',
          now() - n * interval '2 days' + interval '1 day'
        from ${each(count)}`,
      make: (index) =>
        startPromotion(world.channel, person, organizationId(), itemId, {
          priceAmount: 1,
          startsAt: new Date(Date.now() + 2 * index * HOUR_MS),
          endsAt: new Date(Date.now() + (2 * index + 1) * HOUR_MS),
        }),
      rows: () => sql`select from promotions where item_id = ${itemId}`,
    },
    {
      what: 'photos of an item',
      limit: PHOTOS_PER_ITEM_LIMIT,
      code: 'invalid_input',
      fill: (count) => sql`
        insert into photos (id, item_id, organization_id, position, width, height, format)
        select ${id}, ${itemId}, ${organizationId()}, n, 2, 2, 'jpeg' from ${each(count)}`,
      make: () =>
        addPhoto({ ...world.channel, photoFiles: world.photoFiles }, person, organizationId(), itemId, picture),
      rows: () => sql`select from photos where item_id = ${itemId}`,
    },
  ];

  const countRows = async (one: Counted) => {
    const rows = await world.db.query(one.rows());
    return rows.length;
  };

  for (const one of counted) {
    it(`holds for ${one.what} when ${AT_ONCE} are asked for at once`, async () => {
      await world.db.query(one.fill(one.limit - FREE));
      assert.equal(await countRows(one), one.limit - FREE);
      const results = await Promise.allSettled(Array.from({ length: AT_ONCE }, (_, index) => one.make(index)));
      const refusals = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      for (const error of refusals) {
        // So many photos don't wait for the converter.
        if (error instanceof TooManyUploadsError) continue;
        assert.ok(error instanceof DomainError, `${error}`);
        assert.equal(error.code, one.code);
      }
      assert.equal(await countRows(one), one.limit);
      assert.equal(refusals.length, AT_ONCE - FREE);
    });
  }

  it('is no refusal for sessions: the ones that were used least lately end', async () => {
    const rows = (count: number, days: number) => sql`
      insert into sessions (id, user_id, token, expires_at, created_at, updated_at)
      select ${id}, ${dealer.userId}, ${id}, now() + interval '1 day', now(), now() - ${days}::integer * interval '1 day'
      from ${each(count)}`;
    await world.db.query(rows(SESSIONS_LIMIT, 1));
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        await world.db.query(rows(1, 0));
        await endOldestSessions(world.db, dealer.userId);
      }),
    );
    const [left] = await world.db.query(sql`
      select count(*)::integer as sessions, count(*) filter (where updated_at > now() - interval '1 hour')::integer as recent
      from sessions where user_id = ${dealer.userId}`);
    assert.deepEqual(left, { sessions: SESSIONS_LIMIT, recent: AT_ONCE });
  });
});
