import { Ajv } from 'ajv';
import Type, { type Static, type TObject, type TSchema } from 'typebox';
import { DomainError } from '../../contract/domain-error.ts';
import {
  AMOUNT_LIMIT,
  DESCRIPTION_LENGTH_LIMIT,
  STOCK_NUMBER_LENGTH_LIMIT,
  STRING_LENGTH_LIMIT,
  UNITS_LIMIT,
} from '../../contract/limits.ts';
import { OneOf } from '../../contract/resources/common.ts';
import { WatchAttributes } from '../../contract/resources/listing.ts';
import { PartAttributes } from '../../contract/resources/part.ts';

/** With `removeAdditional`, whatever has another name is dropped. */
const ONLY_KNOWN = { additionalProperties: false };

type Attributes = TObject<Record<string, TSchema & { items?: { enum?: unknown[]; properties?: object } }>>;

/**
 * Attributes as they are stored: edits merge them into what is there, so names that nobody knows would add up without end. A
 * list of choices has no more of them than there are.
 */
function storedAs<Schema extends Attributes>({ properties }: Schema) {
  const bounded = Object.entries(properties).map(([name, schema]) => {
    const { items } = schema;
    if (items?.enum !== undefined) return [name, { ...schema, maxItems: items.enum.length }];
    return [name, items?.properties === undefined ? schema : { ...schema, items: { ...items, ...ONLY_KNOWN } }];
  });
  return Type.Object(Object.fromEntries(bounded) as Schema['properties'], ONLY_KNOWN);
}

const fields = {
  stockNumber: Type.String({ minLength: 1, maxLength: STOCK_NUMBER_LENGTH_LIMIT }),
  title: Type.String({ minLength: 1, maxLength: STRING_LENGTH_LIMIT }),
  description: Type.String({ maxLength: DESCRIPTION_LENGTH_LIMIT }),
  /** Minor units of the organization's currency; null is price on request. */
  priceAmount: Type.Union([Type.Integer({ minimum: 0, maximum: AMOUNT_LIMIT }), Type.Null()]),
  units: Type.Integer({ minimum: 0, maximum: UNITS_LIMIT }),
  taxTreatment: Type.Union([OneOf('tax_treatment', ''), Type.Null()]),
  locationId: Type.Union([Type.String(), Type.Null()]),
};

/** What no client ever reads. */
const privateFields = {
  serialNumber: Type.Optional(Type.Union([Type.String({ minLength: 1, maxLength: STRING_LENGTH_LIMIT }), Type.Null()])),
  costAmount: Type.Optional(fields.priceAmount),
  privateNotes: Type.Optional(Type.String({ maxLength: DESCRIPTION_LENGTH_LIMIT })),
};

const ListingAttributes = storedAs(WatchAttributes);
const SparePartAttributes = storedAs(PartAttributes);

const NewListing = Type.Object({
  kind: Type.Literal('listing'),
  ...fields,
  ...privateFields,
  attributes: ListingAttributes,
});
const NewPart = Type.Object({
  kind: Type.Literal('part'),
  ...fields,
  ...privateFields,
  attributes: SparePartAttributes,
});
export type NewItem = Static<typeof NewListing> | Static<typeof NewPart>;

const ListingChanges = Type.Partial(
  Type.Object({ ...fields, ...privateFields, attributes: Type.Partial(ListingAttributes, ONLY_KNOWN) }),
);
const PartChanges = Type.Partial(
  Type.Object({ ...fields, ...privateFields, attributes: Type.Partial(SparePartAttributes, ONLY_KNOWN) }),
);
/** What the dealer edited: a field that is absent stays as it is, also within the attributes. */
export type ItemChanges = Static<typeof ListingChanges> | Static<typeof PartChanges>;

// The schemas are our own: nothing holds them against the meta-schema at each start.
const ajv = new Ajv({ strict: true, validateSchema: false, removeAdditional: true });

/** Drops attributes that have no meaning. */
export function assertNewItem(input: NewItem): void {
  assertValid(input.kind === 'part' ? NewPart : NewListing, input);
  assertStorable(input, '');
}

/** Drops attributes that have no meaning. */
export function assertChanges(kind: 'listing' | 'part', changes: ItemChanges): void {
  assertValid(kind === 'part' ? PartChanges : ListingChanges, changes);
  assertStorable(changes, '');
}

/** The most units that one item can have, including those that are reserved. */
export function assertUnitsOwned(units: number): void {
  if (units > UNITS_LIMIT) {
    throw new DomainError('invalid_input', `An item has at most ${UNITS_LIMIT} units.`, 'units');
  }
}

function assertValid(schema: object, value: unknown): void {
  // It compiles a schema once, at its first use.
  const validate = ajv.compile(schema);
  if (validate(value)) return;
  const [fault] = validate.errors ?? [];
  const field = fault?.instancePath.slice(1).replaceAll('/', '.') ?? '';
  throw new DomainError(
    'invalid_input',
    `${field === '' ? 'The item' : field} ${fault?.message?.replace('NOT', 'not') ?? 'is not valid'}.`,
    field,
  );
}

/** PostgreSQL stores neither NUL nor half of a surrogate pair. */
function assertStorable(value: unknown, path: string): void {
  if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed())) {
    throw new DomainError('invalid_input', `${path} has characters that cannot be stored.`, path);
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) assertStorable(inner, path === '' ? name : `${path}.${name}`);
}
