import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TESTER } from '../../../test/harness/actor.ts';
import { pauseCommits, untilBlocked } from '../../../test/harness/database/locks.ts';
import { openShop, type Shop } from '../../../test/harness/shop.ts';
import { publishNew, watch } from '../../../test/harness/stock.ts';
import { startWorld, type World } from '../../../test/harness/world.ts';
import type { ChannelContext } from '../../channel/context.ts';
import { enqueueJob } from '../../channel/jobs/channel-job-queue.ts';
import { runJobs } from '../../channel/jobs/run-jobs.ts';
import { sql } from '../../db/sql.ts';
import { createBusinessUnit, createLocation, renameBusinessUnit, renameLocation } from '../../inventory/locations.ts';
import { changeOrganization } from '../organization-settings.ts';
import { removeRate, setRate } from '../rates/exchange-rates.ts';
import { setOrganization } from './attach-integration.ts';
import { changePresentation } from './integration-settings.ts';

/** A dealer's channel with one watch on it. */
type Scene = Shop & { unitId: string; locationId: string };
type Act = (context: ChannelContext, scene: Scene) => Promise<unknown>;

/** What a race must leave behind is right with and without a rate. */
const FORCED = { isForced: true };

const newRate: Act = (context) => setRate(context, TESTER, 'USD', 'EUR', '0.5');
const noRate: Act = (context) => removeRate(context, TESTER, 'USD', 'EUR', FORCED);
const channelInEuro: Act = (context, { organizationId, integrationId }) =>
  changePresentation(context, TESTER, organizationId, integrationId, { currency: 'EUR' }, FORCED);
const dealerInEuro: Act = (context, { organizationId }) =>
  changeOrganization(context, TESTER, organizationId, { currency: 'EUR' }, FORCED);
const rename: Act = (context, { organizationId }) =>
  changeOrganization(context, TESTER, organizationId, { name: 'Renamed' });
const renameItsLocation: Act = (context, { organizationId, locationId }) =>
  renameLocation(context, TESTER, organizationId, locationId, 'Safe');
const renameItsUnit: Act = (context, { organizationId, unitId }) =>
  renameBusinessUnit(context, TESTER, organizationId, unitId, 'Genève');
const attach: Act = ({ db }, { integrationId, organizationId }) =>
  setOrganization(db, TESTER, integrationId, organizationId, FORCED);
const detach: Act = ({ db }, { integrationId }) => setOrganization(db, TESTER, integrationId, null);

/** What comes at once with what, and what was before. */
const PAIRS: [string, Act, string, Act, Act[]][] = [
  ['a new rate', newRate, 'the channel’s currency', channelInEuro, []],
  ['a rate’s removal', noRate, 'the channel’s currency', channelInEuro, []],
  ['a new rate', newRate, 'the dealer’s currency', dealerInEuro, []],
  ['a rate’s removal', noRate, 'the dealer’s currency', dealerInEuro, []],
  ['a new rate', newRate, 'an attachment', attach, [channelInEuro, detach]],
  ['a rate’s removal', noRate, 'an attachment', attach, [channelInEuro, detach]],
  ['the dealer’s name', rename, 'an attachment', attach, [detach]],
  ['a location’s name', renameItsLocation, 'an attachment', attach, [detach]],
  ['a business unit’s name', renameItsUnit, 'an attachment', attach, [detach]],
];

describe('two settings that change at once both reach the documents', () => {
  let world: World;
  before(async () => {
    world = await startWorld();
  });
  after(() => world.stop());

  const run = () => runJobs(world.channel, undefined, 0);

  async function openScene(): Promise<Scene> {
    await setRate(world.channel, TESTER, 'USD', 'EUR', '0.9');
    const shop = await openShop(world);
    const unitId = await createBusinessUnit(world.db, TESTER, shop.organizationId, 'Geneva');
    const locationId = await createLocation(world.db, TESTER, shop.organizationId, unitId, 'Showroom');
    await publishNew(world, shop, watch({ locationId }));
    return { ...shop, unitId, locationId };
  }
  /** One does all its work; the other comes, and may be through before the first commits. */
  async function race(scene: Scene, first: Act, second: Act): Promise<void> {
    const held = pauseCommits(world.db);
    const slow = first({ ...world.channel, db: held.db }, scene);
    await held.reached;
    const quick = second(world.channel, scene);
    await Promise.race([quick, untilBlocked(world.db)]);
    await run();
    held.release();
    await Promise.all([slow, quick]);
    await run();
  }
  const stored = ({ integrationId }: Scene) =>
    world.db.query(sql`
      select item_id, document, is_unpriceable from channel_documents
      where integration_id = ${integrationId} order by item_id`);

  for (const [oneName, one, otherName, other, earlier] of PAIRS) {
    for (const [firstName, first, secondName, second] of [
      [oneName, one, otherName, other],
      [otherName, other, oneName, one],
    ] as const) {
      it(`${firstName}, and ${secondName} before it is committed`, async () => {
        const scene = await openScene();
        for (const act of earlier) await act(world.channel, scene);
        await run();
        await race(scene, first, second);
        const found = await stored(scene);
        assert.equal(found.length, 1);
        await enqueueJob(world.db, 'refresh', [scene.integrationId], 'to see whether anything was missed');
        await run();
        assert.deepEqual(await stored(scene), found);
      });
    }
  }
});
