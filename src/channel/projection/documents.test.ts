import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { part, watch } from '../../../test/harness/stock.ts';
import { ENUMERATIONS } from '../../contract/enumerations.ts';
import { Listing } from '../../contract/resources/listing.ts';
import { Part } from '../../contract/resources/part.ts';
import type { JsonObject } from '../../contract/versions.ts';
import { bodyOf, type ChannelSource, type ItemSource, type Publication, render, withStamp } from './documents.ts';

const NOW = Date.parse('2026-05-08T09:00:00.000Z');
const ON: Publication = { isOn: true, publishedAt: new Date(NOW) };
const OFF: Publication = { isOn: false, publishedAt: new Date(NOW) };

const CHANNEL: ChannelSource = {
  priceRule: {
    from: 'USD',
    to: 'USD',
    rate: { numerator: 1n, denominator: 1n },
    markupBasisPoints: 0,
    rounding: 'none',
  },
  imageFormat: 'webp',
  publicUrl: 'https://api.crownwheel.test',
  defaultTaxTreatment: 'margin_scheme',
  dealer: {
    name: 'Dealer',
    address: { line1: null, line2: null, city: 'Geneva', state: null, postal_code: null, country: 'CH' },
  },
};

function item(kind: 'listing' | 'part', changes: Partial<ItemSource> = {}): ItemSource {
  const { attributes } = kind === 'part' ? part() : watch();
  return {
    id: kind === 'part' ? 'prt_01h455vb4pex5vsknk084sn02q' : 'lst_01h455vb4pex5vsknk084sn02q',
    kind,
    stockNumber: 'S-1',
    title: 'A title',
    description: '',
    priceAmount: 1_299_000,
    units: 1,
    reservedUnits: 0,
    isHidden: false,
    taxTreatment: null,
    attributes,
    createdAt: new Date(NOW),
    location: null,
    photos: [],
    promotions: [],
    ...changes,
  };
}

type Shown = {
  channel?: Partial<ChannelSource>;
  publication?: Publication | null;
  nowMs?: number;
};

function rendering(source: ItemSource, { channel = {}, publication = ON, nowMs = NOW }: Shown = {}) {
  return render(source, { ...CHANNEL, ...channel }, publication, (document) => document, nowMs);
}

/** The document as a client would parse it, without its stamp. */
// biome-ignore lint/suspicious/noExplicitAny: a test asserts on whatever was really rendered.
function documentOf(source: ItemSource, shown: Shown = {}): any {
  const result = rendering(source, shown);
  assert.ok(result);
  return JSON.parse(result.body);
}

describe('a document', () => {
  for (const [kind, schema] of [
    ['listing', Listing],
    ['part', Part],
  ] as const) {
    it(`of a ${kind} has the fields of the contract, all and only those, in its order`, () => {
      const result = rendering(item(kind));
      assert.ok(result);
      const stamped = JSON.parse(withStamp(result.body, new Date(NOW)));
      assert.deepEqual(Object.keys(stamped), Object.keys(schema.properties));
      const ajv = addFormats.default(new Ajv({ strict: false }));
      assert.ok(ajv.validate(schema, stamped), ajv.errorsText());
    });
  }

  it('of a listing shows every attribute of the watch', () => {
    const { watch: shown } = documentOf(item('listing'));
    assert.deepEqual(Object.keys(shown), Object.keys(Listing.properties.watch.properties));
    const { tax_treatment: _, ...attributes } = shown;
    assert.deepEqual(attributes, watch().attributes);
  });

  it('carries its stamp last, and is its body without it', () => {
    const result = rendering(item('part'));
    assert.ok(result);
    const document = withStamp(result.body, new Date(NOW));
    assert.ok(document.endsWith(',"updated_at":"2026-05-08T09:00:00.000Z"}'));
    assert.equal(bodyOf(document), result.body);
  });

  it('shows photos in the channel’s image format, and originals in their own', () => {
    const photo = { id: 'pho_1', position: 1, width: 2000, height: 1500, format: 'png' };
    const urlIn = (imageFormat: ChannelSource['imageFormat']) =>
      documentOf(item('listing', { photos: [photo] }), { channel: { imageFormat } }).photos[0];
    assert.deepEqual(urlIn('avif'), {
      id: 'pho_1',
      position: 1,
      url: 'https://api.crownwheel.test/photos/pho_1.avif',
      thumbnail_url: 'https://api.crownwheel.test/photos/pho_1-square.avif',
      width: 2000,
      height: 1500,
    });
    assert.ok(urlIn('jpeg').url.endsWith('pho_1.jpg'));
    assert.ok(urlIn('original').url.endsWith('pho_1.png'));
  });
});

describe('labels', () => {
  /** The enumerations of a schema by field: whatever the contract gains, the labels must gain. */
  type EnumField = { name: string; isMany: boolean };
  function enumFields(properties: JsonObject): EnumField[] {
    return Object.entries(properties).flatMap(([name, property]): EnumField[] => {
      const schemas = [property, ...((property as { anyOf?: object[] }).anyOf ?? [])] as {
        enum?: string[];
        items?: { enum?: string[] };
      }[];
      if (schemas.some((schema) => schema.items?.enum !== undefined)) return [{ name, isMany: true }];
      return schemas.some((schema) => schema.enum !== undefined) ? [{ name, isMany: false }] : [];
    });
  }
  const kinds = [
    ['listing', [...enumFields(Listing.properties), ...enumFields(Listing.properties.watch.properties)]],
    ['part', enumFields(Part.properties)],
  ] as const;
  const allTexts = new Set(Object.values(ENUMERATIONS).flatMap((labels) => Object.values(labels) as string[]));

  for (const [kind, fields] of kinds) {
    it(`of a ${kind} have English text for each of its ${fields.length} enumerated fields, arrays for arrays`, () => {
      const { labels } = documentOf(item(kind));
      assert.ok(fields.length > 3);
      assert.deepEqual(Object.keys(labels).sort(), fields.map(({ name }) => name).sort());
      for (const { name, isMany } of fields) {
        assert.equal(Array.isArray(labels[name]), isMany, name);
        for (const text of [labels[name]].flat()) assert.ok(allTexts.has(text), `${name}: ${text}`);
      }
    });
  }

  it('are null where the field is null, and empty where it is empty', () => {
    const attributes = { ...watch().attributes, gender: null, clasp_type: null, complications: [] };
    const { labels } = documentOf(item('listing', { attributes }));
    assert.equal(labels.gender, null);
    assert.equal(labels.clasp_type, null);
    assert.deepEqual(labels.complications, []);
  });
});

describe('the description', () => {
  const cases: [string, string, string, string[]][] = [
    ['is empty when nothing was typed', '', '', []],
    ['without || is left as it is', ' One.\nTwo. ', ' One.\nTwo. ', [' One.\nTwo. ']],
    ['has a blank line for ||', 'One.||Two.', 'One.\n\nTwo.', ['One.', 'Two.']],
    ['drops blanks around ||', 'One. \t|| Two.', 'One.\n\nTwo.', ['One.', 'Two.']],
    [
      'keeps typed line breaks',
      'One.\nMore.||Two.\r\nEnd.',
      'One.\nMore.\n\nTwo.\r\nEnd.',
      ['One.\nMore.', 'Two.\r\nEnd.'],
    ],
    ['has no empty paragraphs', '||One.||||Two.|| ||', 'One.\n\nTwo.', ['One.', 'Two.']],
    ['keeps a single |', 'A|B', 'A|B', ['A|B']],
    ['is nothing when only || was typed', '||', '', []],
  ];
  for (const [name, typed, description, paragraphs] of cases) {
    it(name, () => {
      const document = documentOf(item('listing', { description: typed }));
      assert.equal(document.description, description);
      assert.deepEqual(document.description_paragraphs, paragraphs);
      assert.ok(!document.description.includes('||'));
    });
  }
});

describe('a promotion', () => {
  const STARTS = NOW + 1_000;
  const ENDS = NOW + 2_000;
  const promoted = (endsAtMs: number | null) =>
    item('listing', { promotions: [{ amount: 1_199_000, startsAtMs: STARTS, endsAtMs }] });
  const at = (nowMs: number, source = promoted(ENDS)) => {
    const result = rendering(source, { nowMs });
    assert.ok(result);
    const { price, promotion } = JSON.parse(result.body);
    return { amount: price.amount, promotion, validUntilMs: result.validUntilMs };
  };

  it('is not there before it starts, and is due then', () => {
    assert.deepEqual(at(STARTS - 1), { amount: 1_299_000, promotion: null, validUntilMs: STARTS });
  });
  it('runs from its first millisecond', () => {
    assert.deepEqual(at(STARTS), {
      amount: 1_199_000,
      promotion: {
        regular_amount: 1_299_000,
        regular_amount_formatted: '$12,990.00',
        ends_at: '2026-05-08T09:00:02.000Z',
      },
      validUntilMs: ENDS,
    });
  });
  it('runs to the millisecond before its end', () => assert.equal(at(ENDS - 1).amount, 1_199_000));
  it('has ended at its end, for ever', () => {
    assert.deepEqual(at(ENDS), { amount: 1_299_000, promotion: null, validUntilMs: null });
  });
  it('without an end runs on, and nothing is due', () => {
    const open = at(ENDS, promoted(null));
    assert.deepEqual([open.amount, open.promotion.ends_at, open.validUntilMs], [1_199_000, null, null]);
  });
  it('hands over to the next in the same millisecond', () => {
    const source = item('listing', {
      promotions: [
        { amount: 1_100_000, startsAtMs: STARTS, endsAtMs: ENDS },
        { amount: 1_000_000, startsAtMs: ENDS, endsAtMs: ENDS + 500 },
      ],
    });
    assert.deepEqual([at(ENDS - 1, source).amount, at(ENDS, source).amount], [1_100_000, 1_000_000]);
    assert.deepEqual([at(ENDS - 1, source).validUntilMs, at(ENDS, source).validUntilMs], [ENDS, ENDS + 500]);
  });
  it('goes through markup and rounding like the regular price', () => {
    const priceRule = { ...CHANNEL.priceRule, markupBasisPoints: 1_000, rounding: 'up_to_99' as const };
    const { price, promotion } = documentOf(promoted(ENDS), { channel: { priceRule }, nowMs: STARTS });
    assert.equal(price.amount, 1_319_900);
    assert.equal(promotion.regular_amount, 1_429_900);
    assert.equal(promotion.regular_amount_formatted, '$14,299.00');
  });
});

describe('the price', () => {
  it('is null on request, also while a promotion runs', () => {
    const source = item('listing', {
      priceAmount: null,
      promotions: [{ amount: 1, startsAtMs: NOW - 1, endsAtMs: NOW + 1 }],
    });
    const result = rendering(source);
    assert.ok(result);
    const { price, promotion } = JSON.parse(result.body);
    assert.deepEqual([price, promotion, result.isUnpriceable], [null, null, false]);
    assert.equal(result.validUntilMs, NOW + 1);
  });
  it('that has no exchange rate marks the document, and none is shown in its place', () => {
    const channel = { priceRule: { ...CHANNEL.priceRule, to: 'EUR', rate: null } };
    const result = rendering(item('listing'), { channel });
    assert.ok(result);
    assert.equal(JSON.parse(result.body).price, null);
    assert.equal(result.isUnpriceable, true);
    assert.equal(rendering(item('listing', { priceAmount: null }), { channel })?.isUnpriceable, false);
  });
});

describe('the tax treatment', () => {
  it('falls back to the organization’s default, its label too', () => {
    const listing = documentOf(item('listing'));
    assert.deepEqual([listing.watch.tax_treatment, listing.labels.tax_treatment], ['margin_scheme', 'Margin scheme']);
    assert.equal(documentOf(item('part')).tax_treatment, 'margin_scheme');
  });
  it('of the item itself wins', () => {
    const taxTreatment = 'tax_free';
    assert.equal(documentOf(item('listing', { taxTreatment })).watch.tax_treatment, 'tax_free');
    assert.equal(documentOf(item('part', { taxTreatment })).labels.tax_treatment, 'Tax-free');
  });
});

describe('the status', () => {
  type Row = ['listing' | 'part', Partial<ItemSource>, Publication | null, string | null, number];
  const rows: Row[] = [
    ['listing', { units: 1 }, ON, 'active', 1],
    ['listing', { units: 3, reservedUnits: 1 }, ON, 'active', 2],
    ['listing', { units: 1, reservedUnits: 1 }, ON, 'reserved', 0],
    ['listing', { units: 0 }, ON, 'sold', 0],
    ['listing', { units: 1, isHidden: true }, ON, 'unpublished', 1],
    ['listing', { units: 0, isHidden: true }, ON, 'unpublished', 0],
    ['listing', { units: 1 }, OFF, 'unpublished', 1],
    ['listing', { units: 1 }, null, null, 0],
    ['part', { units: 5 }, ON, 'active', 5],
    ['part', { units: 5, reservedUnits: 2 }, ON, 'active', 3],
    ['part', { units: 5, reservedUnits: 5 }, ON, 'sold_out', 0],
    ['part', { units: 0 }, ON, 'sold_out', 0],
    ['part', { units: 5, isHidden: true }, ON, 'unpublished', 5],
    ['part', { units: 5 }, OFF, null, 0],
    ['part', { units: 5 }, null, null, 0],
  ];
  for (const [kind, changes, publication, status, quantity] of rows) {
    const toggle = publication === null ? 'never published' : publication.isOn ? 'on' : 'off';
    it(`of a ${kind}, ${toggle}, with ${JSON.stringify(changes)} is ${status ?? 'nothing to read'}`, () => {
      const result = rendering(item(kind, changes), { publication });
      if (status === null) return assert.equal(result, null);
      assert.ok(result);
      const document = JSON.parse(result.body);
      assert.deepEqual([result.status, result.quantity], [status, quantity]);
      assert.deepEqual([document.status, document.quantity], [status, quantity]);
    });
  }
});
