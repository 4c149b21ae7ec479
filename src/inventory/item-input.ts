import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { OneOf } from '../contract/resources/common.ts';
import { WatchAttributes } from '../contract/resources/listing.ts';
import { PartAttributes } from '../contract/resources/part.ts';
import { DealerError } from '../dealers/dealer-error.ts';

export const AMOUNT_MAX = 1_000_000_000_000;
export const UNITS_MAX = 1_000_000;

const fields = {
  stockNumber: Type.String({ minLength: 1, maxLength: 100 }),
  title: Type.String({ minLength: 1, maxLength: 500 }),
  description: Type.String({ maxLength: 20_000 }),
  /** Minor units of the organization's currency; null is price on request. */
  priceAmount: Type.Union([Type.Integer({ minimum: 0, maximum: AMOUNT_MAX }), Type.Null()]),
  units: Type.Integer({ minimum: 0, maximum: UNITS_MAX }),
  taxTreatment: Type.Union([OneOf('tax_treatment', ''), Type.Null()]),
  locationId: Type.Union([Type.String(), Type.Null()]),
};

const NewListing = Type.Object({ kind: Type.Literal('listing'), ...fields, attributes: WatchAttributes });
const NewPart = Type.Object({ kind: Type.Literal('part'), ...fields, attributes: PartAttributes });
export type NewItem = Static<typeof NewListing> | Static<typeof NewPart>;

const ListingChanges = Type.Partial(Type.Object({ ...fields, attributes: Type.Partial(WatchAttributes) }));
const PartChanges = Type.Partial(Type.Object({ ...fields, attributes: Type.Partial(PartAttributes) }));
/** What the dealer edited: a field that is absent stays as it is, also within the attributes. */
export type ItemChanges = Static<typeof ListingChanges> | Static<typeof PartChanges>;

const checks = {
  newListing: Compile(NewListing),
  newPart: Compile(NewPart),
  listingChanges: Compile(ListingChanges),
  partChanges: Compile(PartChanges),
};

export function assertNewItem(input: NewItem): void {
  assertValid(input.kind === 'part' ? checks.newPart : checks.newListing, input);
}

export function assertChanges(kind: 'listing' | 'part', changes: ItemChanges): void {
  assertValid(kind === 'part' ? checks.partChanges : checks.listingChanges, changes);
}

type Check = { Check(value: unknown): boolean; Errors(value: unknown): { instancePath: string; message: string }[] };

function assertValid(check: Check, value: unknown): void {
  if (check.Check(value)) return;
  const [fault] = check.Errors(value);
  const field = fault?.instancePath.slice(1).replaceAll('/', '.') ?? '';
  throw new DealerError(
    'invalid_input',
    `${field === '' ? 'The item' : field} ${fault?.message ?? 'is not valid'}.`,
    field,
  );
}
