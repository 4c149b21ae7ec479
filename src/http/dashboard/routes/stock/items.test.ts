import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import sharp from 'sharp';
import { signedIn } from '../../../../../test/harness/http/dashboard-client.ts';
import { startWorld, type World } from '../../../../../test/harness/world.ts';
import { PHOTO_LIMIT_BYTES } from '../../../../contract/limits.ts';
import { sql } from '../../../../db/sql.ts';
import { listChannels } from '../../../../dealers/integrations/integrations.ts';
import { prepareUpload } from '../../../../inventory/photos/encode-photos.ts';
import { UPLOADS_WAITING_MAX_PER_DEALER, withUploadMemory } from '../../../../inventory/photos/photo-memory.ts';

type Person = Awaited<ReturnType<typeof signedIn>>;

describe('the item in the dashboard', () => {
  let world: World;
  let owner: Person;
  let staff: Person;
  let integrationId: string;
  before(async () => {
    world = await startWorld();
    owner = await signedIn(world);
    staff = await signedIn(world, { organizationId: owner.organizationId, role: 'staff' });
    integrationId = (await listChannels(world.db, owner.organizationId))[0]?.id ?? '';
  });
  after(() => world.stop());

  let made = 0;
  function newWatch(changes: Record<string, unknown> = {}) {
    made += 1;
    return {
      kind: 'listing',
      stock_number: `D-${made}`,
      title: 'Omega Speedmaster',
      description: 'One.||Two.',
      price_amount: 500_000,
      tax_treatment: null,
      location_id: null,
      units: 1,
      attributes: {
        ...Object.fromEntries(OPTIONAL.map((name) => [name, null])),
        brand: 'Omega',
        model: 'Speedmaster',
        condition: 'good',
        has_box: true,
        has_papers: false,
        complications: ['chronograph'],
        additional_details: [],
      },
      ...changes,
    };
  }

  const sell = (itemId: string, units: number) =>
    owner.call('POST', '/sales', { item_id: itemId, units, amount: null, customer_id: null });

  async function create(changes: Record<string, unknown> = {}): Promise<string> {
    const answer = await owner.call('POST', '/items', newWatch(changes));
    assert.equal(answer.status, 200, answer.text);
    return answer.body.id;
  }
  const read = async (id: string, person = owner) => (await person.call('GET', `/items/${id}`)).body;
  const save = (id: string, body: object, person = owner) => person.call('PATCH', `/items/${id}`, body);

  it('is created and read in one request, with channels, arithmetic and choices', async () => {
    const id = await create({ serial_number: 'S1', cost_amount: 300_000, private_notes: 'From Basel.' });
    await owner.call('PUT', `/stock/${id}/channels/${integrationId}`, { is_on: true });
    const item = await read(id);
    assert.equal(item.revision, 1);
    assert.deepEqual([item.serial_number, item.cost_amount, item.private_notes], ['S1', 300_000, 'From Basel.']);
    assert.deepEqual([item.units, item.free_units, item.status], [1, 1, 'in_stock']);
    const [channel] = item.channels;
    assert.equal(channel.is_on, true);
    assert.deepEqual([channel.price.from.amount, channel.price.price], [500_000, 500_000]);
    assert.equal(channel.last_event.type, 'listing.published');
    const [stored] = await world.db.query<{ document: string }>(sql`
      select document from channel_documents where item_id = ${id}`);
    const { updated_at: _stamp, ...document } = JSON.parse(stored?.document ?? '{}');
    assert.deepEqual(channel.document, document, 'what the page shows is what the site reads');
    assert.equal(item.choices.sees_cost, true);
  });

  it('is refused with the field that is wrong', async () => {
    for (const [changes, field] of [
      [{ title: '' }, 'title'],
      [{ price_amount: -1 }, 'price_amount'],
      [{ attributes: { ...newWatch().attributes, brand: '' } }, 'attributes.brand'],
      [{ attributes: { ...newWatch().attributes, movement: 'steam' } }, 'attributes.movement'],
      [{ location_id: 'loc_unknown' }, 'location_id'],
    ] as [object, string][]) {
      const answer = await owner.call('POST', '/items', newWatch(changes as Record<string, unknown>));
      assert.ok([400, 404].includes(answer.status), answer.text);
      assert.equal(answer.body.error.field, field, answer.text);
    }
    const first = newWatch();
    assert.equal((await owner.call('POST', '/items', first)).status, 200);
    const again = await owner.call('POST', '/items', first);
    assert.deepEqual(
      [again.status, again.body.error.code, again.body.error.field],
      [409, 'stock_number_taken', 'stock_number'],
    );
  });

  it('is saved from its revision; a stale save is refused and changes nothing', async () => {
    const id = await create();
    const saved = await save(id, { revision: 1, title: 'Mine', attributes: { year: 1969 } });
    assert.deepEqual([saved.status, saved.body.revision], [200, 2]);
    const stale = await save(id, { revision: 1, title: 'Yours' }, staff);
    assert.deepEqual([stale.status, stale.body.error.code], [409, 'changed_meanwhile']);
    const item = await read(id);
    assert.deepEqual([item.title, item.attributes.year, item.attributes.brand], ['Mine', 1969, 'Omega']);
    const both = await Promise.all(['A', 'B'].map((title) => save(id, { revision: 2, title })));
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
  });

  it('is checked and kept alike in a small body and in one that is parsed in slices', async () => {
    // Two texts of 20,000 characters, four bytes each.
    const long = { description: '😀'.repeat(20_000), private_notes: '😀'.repeat(20_000) };
    const id = await create({ ...long, attributes: { ...newWatch().attributes, complications: ['date'] } });
    await owner.call('PUT', `/stock/${id}/channels/${integrationId}`, { is_on: true });
    const attributes = { year: 1969, complications: ['chronograph', 'date'] };
    assert.equal((await save(id, { revision: 1, ...long, attributes })).status, 200);
    const { year, brand, complications } = (await read(id)).attributes;
    assert.deepEqual([year, brand, complications], [1969, 'Omega', ['chronograph', 'date']]);
    for (const [wrong, field] of [
      [{ year: 'soon' }, 'attributes.year'],
      [{ year: { what: 1969 } }, 'attributes.year'],
      [{ brand: null }, 'attributes.brand'],
      [{ complications: 'date' }, 'attributes.complications'],
      [{ complications: [{ date: 1 }] }, 'attributes.complications.0'],
    ] as [object, string][]) {
      for (const texts of [{}, long]) {
        const refused = await save(id, { revision: 2, ...texts, attributes: wrong });
        assert.deepEqual([refused.status, refused.body.error.field], [400, field], refused.text);
      }
    }
    const fits = Array.from({ length: 100 }, () => ({
      brand: 'B'.repeat(500),
      model: 'M'.repeat(500),
      reference_number: 'R'.repeat(500),
      caliber: null,
    }));
    const part = { part_number: null, category: 'crown', brand: null, condition: 'good', compatibility: fits };
    const partId = await create({ kind: 'part', attributes: part });
    assert.deepEqual((await read(partId)).attributes.compatibility, fits);
  });

  it('keeps no attributes that have no meaning, and of choices no more than there are', async () => {
    const junk = (name: string) => ({ [name]: 'x'.repeat(100) });
    const id = await create({ attributes: { ...newWatch().attributes, ...junk('a') } });
    assert.equal((await save(id, { revision: 1, attributes: { ...junk('b'), year: 1970 } })).status, 200);
    const { attributes } = await read(id);
    assert.deepEqual(attributes, { ...newWatch().attributes, year: 1970 });
    const only = await save(id, { revision: 2, attributes: junk('c') });
    assert.deepEqual([only.status, only.body.revision], [200, 2], 'nothing was changed');
    const dates = await save(id, { revision: 2, attributes: { complications: Array(10_000).fill('date') } });
    assert.deepEqual([dates.status, dates.body.error.field], [400, 'attributes.complications']);
    const fit = { brand: 'Omega', model: null, reference_number: null, caliber: null };
    const part = { part_number: null, category: 'crown', brand: null, condition: 'good' };
    const partId = await create({
      kind: 'part',
      attributes: { ...part, compatibility: [{ ...fit, ...junk('d') }] },
    });
    assert.deepEqual((await read(partId)).attributes, { ...part, compatibility: [fit] });
  });

  it('keeps its units when the form is older than a sale', async () => {
    const id = await create({ units: 2 });
    assert.equal((await sell(id, 1)).status, 200);
    const stale = await save(id, { revision: 1, units: 5, units_from: 2 });
    assert.deepEqual([stale.status, stale.body.error.field], [409, 'units']);
    assert.equal((await save(id, { revision: 1, title: 'Other' })).status, 200);
    assert.equal((await read(id)).units, 1);
  });

  it('keeps the cost price from staff', async () => {
    const id = await create({ cost_amount: 100 });
    assert.equal((await read(id, staff)).cost_amount, null);
    const refused = await save(id, { revision: 1, cost_amount: 1 }, staff);
    assert.deepEqual([refused.status, refused.body.error.field], [403, 'cost_amount']);
    assert.equal((await save(id, { revision: 1, title: 'By staff' }, staff)).status, 200);
    assert.equal((await read(id)).cost_amount, 100);
  });

  it('is previewed before it is saved, with the price on each channel', async () => {
    const { units: _units, ...draft } = newWatch({ price_amount: 123_456 });
    const answer = await owner.call('POST', '/items/preview', { ...draft, units: 1, preview_of_id: null });
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.channels[0].price.price, 123_456);
    assert.deepEqual(answer.body.channels[0].document.description_paragraphs, ['One.', 'Two.']);
    assert.equal(answer.body.channels[0].is_on, false);
    const id = await create();
    const of = await owner.call('POST', '/items/preview', { ...draft, title: 'Draft', units: 3, preview_of_id: id });
    assert.deepEqual([of.body.channels[0].document.title, of.body.channels[0].document.quantity], ['Draft', 3]);
    assert.equal((await read(id)).title, 'Omega Speedmaster', 'nothing was saved');
    const fits = { part_number: null, category: 'crown', brand: null, condition: 'good', compatibility: [] };
    const asPart = { ...draft, kind: 'part', attributes: fits, units: 1, preview_of_id: id };
    assert.equal((await owner.call('POST', '/items/preview', asPart)).status, 404);
    const stranger = await signedIn(world);
    assert.equal(
      (await stranger.call('POST', '/items/preview', { ...draft, units: 1, preview_of_id: id })).status,
      404,
    );
  });

  it('moves through its states by hand: reserved, released, sold, voided, restocked, removed', async () => {
    const id = await create({ units: 2 });
    const move = (movement: string, units = 1) => owner.call('POST', `/items/${id}/movements`, { movement, units });
    const state = async () => {
      const { units, reserved_units, releasable_units } = await read(id);
      return [units, reserved_units, releasable_units];
    };
    assert.equal((await move('reserve')).status, 204);
    assert.deepEqual(await state(), [2, 1, 1]);
    assert.equal((await move('release')).status, 204);
    const sold = await sell(id, 2);
    assert.equal((await read(id)).status, 'sold');
    assert.equal((await sell(id, 1)).body.error.code, 'not_enough_units');
    assert.equal((await owner.call('POST', `/items/${id}/sales/${sold.body.id}/void`)).status, 204);
    assert.equal((await read(id)).sales[0].is_voided, true);
    assert.equal((await move('restock', 3)).status, 204);
    assert.equal((await move('remove', 4)).status, 204);
    assert.deepEqual(await state(), [1, 0, 0]);
    assert.equal((await move('fit')).body.error.code, 'wrong_kind');
    assert.equal((await move('reserve', 0)).status, 400);
  });

  it('has promotions that are planned, changed and ended', async () => {
    const id = await create();
    const path = `/items/${id}/promotions`;
    const tooDear = await owner.call('POST', path, { price_amount: 500_000, starts_at: null, ends_at: null });
    assert.deepEqual([tooDear.status, tooDear.body.error.field], [400, 'price_amount']);
    const started = await owner.call('POST', path, { price_amount: 450_000, starts_at: null, ends_at: null });
    assert.equal(started.status, 200, started.text);
    assert.equal((await read(id)).promotions[0].state, 'running');
    assert.equal((await read(id)).channels[0].promotion_price.price, 450_000);
    const planned = {
      price_amount: 400_000,
      starts_at: '2099-01-01T00:00:00.000Z',
      ends_at: '2099-02-01T00:00:00.000Z',
    };
    assert.equal((await owner.call('PUT', `${path}/${started.body.id}`, planned)).status, 204);
    assert.equal((await read(id)).promotions[0].state, 'planned');
    const backwards = await owner.call('PUT', `${path}/${started.body.id}`, {
      ...planned,
      ends_at: '2098-01-01T00:00:00.000Z',
    });
    assert.equal(backwards.body.error.field, 'ends_at');
    assert.equal((await owner.call('DELETE', `${path}/${started.body.id}`)).status, 204);
    assert.deepEqual((await read(id)).promotions, []);
  });

  it('is hidden, and deleted for ever by owners alone', async () => {
    const id = await create();
    assert.equal((await staff.call('PUT', `/items/${id}/hidden`, { is_hidden: true })).status, 200);
    assert.equal((await read(id)).is_hidden, true);
    assert.equal((await staff.call('DELETE', `/items/${id}`)).status, 403);
    assert.equal((await owner.call('DELETE', `/items/${id}`)).status, 204);
    assert.equal((await owner.call('GET', `/items/${id}`)).status, 404);
  });

  describe('with photos', () => {
    const upload = async (id: string, body: string | Uint8Array<ArrayBuffer>, person = owner) => {
      const response = await fetch(`${world.origin}/api/dashboard/items/${id}/photos`, {
        method: 'POST',
        headers: {
          origin: world.channel.publicUrl,
          cookie: person.cookie(),
          'content-type': 'application/octet-stream',
        },
        body,
      });
      return { status: response.status, body: (await response.json()) as { id: string; error: { message: string } } };
    };
    const picture = async (width = 30, height = 20) =>
      new Uint8Array(
        await sharp({ create: { width, height, channels: 3, background: '#345' } })
          .jpeg()
          .toBuffer(),
      );

    it('takes several at once, orders, rotates, removes and puts them back', async () => {
      const id = await create();
      const bytes = await picture();
      const answers = await Promise.all([upload(id, bytes), upload(id, bytes), upload(id, bytes)]);
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 200],
      );
      const ids = async () => (await read(id)).photos.map((photo: { id: string }) => photo.id) as string[];
      const [a = '', b = '', c = ''] = await ids();
      assert.equal((await owner.call('PUT', `/items/${id}/photos`, { photo_ids: [c, a, b] })).status, 200);
      assert.deepEqual(await ids(), [c, a, b]);
      assert.equal((await owner.call('PUT', `/items/${id}/photos`, { photo_ids: [c, a] })).status, 400);
      const turned = (await owner.call('POST', `/items/${id}/photos/${c}/rotate`)).body.id;
      assert.deepEqual([(await read(id)).photos[0].width, (await read(id)).photos[0].height], [20, 30]);
      assert.equal((await owner.call('DELETE', `/items/${id}/photos/${a}`)).status, 200);
      assert.deepEqual(await ids(), [turned, b]);
      assert.equal((await owner.call('POST', `/items/${id}/photos/${a}/restore`)).status, 204);
      assert.deepEqual(await ids(), [turned, a, b]);
    });

    it('lets photos wait until they can be turned, and the changes of other dealers pass', async () => {
      const turns: (() => Promise<{ status: number }>)[] = [];
      for (let dealer = 0; dealer < 4; dealer++) {
        const person = await signedIn(world);
        const { body: item } = await person.call('POST', '/items', newWatch());
        for (let photo = 0; photo < 2; photo++) {
          const { body } = await upload(item.id, await picture(), person);
          turns.push(() => person.call('POST', `/items/${item.id}/photos/${body.id}/rotate`));
        }
      }
      const free = Promise.withResolvers<void>();
      const held = ['org_one', 'org_two'].map((other) => withUploadMemory(other, 1, () => free.promise));
      const turning = turns.map((turn) => turn());
      try {
        for (let round = 0; round < 20; round++) {
          assert.equal((await staff.call('PATCH', '/account', { show_test_data: round % 2 === 0 })).status, 200);
        }
      } finally {
        free.resolve();
      }
      await Promise.all(held);
      const statuses = (await Promise.all(turning)).map(({ status }) => status);
      assert.deepEqual([...new Set(statuses)], [200]);
    });

    it('answers 503 to an upload when too many photos of its dealer are being made', async () => {
      const id = await create();
      const bytes = Buffer.from(await picture());
      const free = Promise.withResolvers<void>();
      const held = ['org_one', 'org_two'].map((other) => withUploadMemory(other, 1, () => free.promise));
      const made = Array.from({ length: UPLOADS_WAITING_MAX_PER_DEALER }, () =>
        prepareUpload(owner.organizationId, bytes),
      );
      try {
        const refused = await upload(id, await picture());
        assert.equal(refused.status, 503);
        assert.match(refused.body.error.message, /Too many photos/);
      } finally {
        free.resolve();
      }
      await Promise.all([...held, ...made]);
    });

    it('lets one dealer’s slow uploads wait for each other, and another dealer’s pass', async (t) => {
      const id = await create();
      const slow = Array.from({ length: 20 }, () => {
        const socket = connect(world.port, '127.0.0.1');
        t.after(() => socket.destroy());
        socket.on('error', () => {});
        socket.write(
          `POST /api/dashboard/items/${id}/photos HTTP/1.1\r\nHost: x\r\nOrigin: ${world.channel.publicUrl}\r\n` +
            `Cookie: ${owner.cookie()}\r\nContent-Type: application/octet-stream\r\nContent-Length: 1000000\r\n\r\nbegin`,
        );
        return socket;
      });
      await Promise.all(slow.map((socket) => once(socket, 'ready')));
      const stranger = await signedIn(world);
      const other = await stranger.call('POST', '/items', newWatch());
      assert.equal(other.status, 200, other.text);
      assert.equal((await upload(other.body.id, await picture(), stranger)).status, 200);
    });

    it('refuses HEIC, what is no photo, and what is too large, each with a sentence', async () => {
      const id = await create();
      const heic = new Uint8Array(
        Buffer.concat([Buffer.from([0, 0, 0, 24]), Buffer.from('ftypheic'), Buffer.alloc(100)]),
      );
      const refused = await upload(id, heic);
      assert.equal(refused.status, 400);
      assert.match(refused.body.error.message, /HEIC.*JPEG/);
      assert.match((await upload(id, 'hello')).body.error.message, /not a photo/);
      const large = await upload(id, new Uint8Array(PHOTO_LIMIT_BYTES + 1)).catch(() => null);
      // The connection may be closed before the client has read why.
      if (large !== null) assert.equal(large.status, 413);
      assert.deepEqual((await read(id)).photos, []);
    });

    it('answers an upload to another dealer’s item 404 before it is read', async () => {
      const id = await create();
      const stranger = await signedIn(world);
      assert.equal((await upload(id, await picture(), stranger)).status, 404);
    });
  });
});

const OPTIONAL = [
  'reference_number',
  'year',
  'gender',
  'movement',
  'caliber',
  'power_reserve_hours',
  'water_resistance_m',
  'case_material',
  'case_diameter_mm',
  'case_thickness_mm',
  'lug_width_mm',
  'bezel_material',
  'crystal_type',
  'dial_color',
  'dial_numerals',
  'bracelet_material',
  'bracelet_color',
  'bracelet_links',
  'clasp_type',
  'clasp_material',
  'handling_time',
];
