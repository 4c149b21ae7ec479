import Type from 'typebox';
import { STRING_LENGTH_LIMIT } from '../../limits.ts';
import { OneOf } from '../../resources/common.ts';
import { operation } from '../operation.ts';

const Line = Type.Union([Type.String({ maxLength: STRING_LENGTH_LIMIT }), Type.Null()]);
const PostalAddress = Type.Object({
  line1: Line,
  line2: Line,
  city: Line,
  state: Line,
  postal_code: Line,
  country: Line,
});
const TaxTreatment = OneOf('tax_treatment', 'For items that have none of their own.');

/** The business as its own pages show it. */
export const BusinessSettings = Type.Object(
  {
    name: Type.String(),
    address: PostalAddress,
    default_tax_treatment: TaxTreatment,
    currency: Type.String({ description: 'Of the dealer’s own prices.' }),
    time_zone: Type.String({ description: 'A name of the IANA database.' }),
    staff_sees_cost: Type.Boolean(),
    revision: Type.Integer({ description: 'A change names the revision that it began from.' }),
    operator: Type.Object(
      { has_integration_plan: Type.Boolean(), is_provisioned: Type.Boolean() },
      { description: 'What the operator of the service decides; it can’t be changed here.' },
    ),
  },
  { $id: 'BusinessSettings' },
);

const change = {
  revision: Type.Integer(),
  name: Type.Optional(Type.String({ minLength: 1, maxLength: STRING_LENGTH_LIMIT })),
  address: Type.Optional(PostalAddress),
  default_tax_treatment: Type.Optional(TaxTreatment),
  currency: Type.Optional(Type.String({ minLength: 3, maxLength: 3 })),
  time_zone: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
};

export const organizationOperations = {
  getBusiness: operation({
    method: 'GET',
    path: '/business',
    access: 'staff',
    description: 'Settings of the business, and what the operator decides for it.',
    response: BusinessSettings,
  }),
  changeBusiness: operation({
    method: 'PATCH',
    path: '/business',
    access: 'owner',
    description:
      'Changes settings of the business. Its sites learn of it by events. 409 `changed_meanwhile` if somebody was faster, `rate_missing` if a channel could not be priced in the new currency, `not_empty` if its decimals differ and there are amounts.',
    body: Type.Object(change),
    response: BusinessSettings,
  }),
  setCostAccess: operation({
    method: 'PUT',
    path: '/business/cost-access',
    access: 'owner',
    description: 'Opens cost prices to staff, or closes them again. Owners always see them.',
    body: Type.Object({ staff_sees_cost: Type.Boolean() }),
    response: BusinessSettings,
  }),
};
