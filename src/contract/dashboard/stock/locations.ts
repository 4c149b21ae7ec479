import Type from 'typebox';
import { STRING_LENGTH_LIMIT } from '../../limits.ts';
import { operation } from '../operation.ts';

const Named = Type.Object({ name: Type.String({ minLength: 1, maxLength: STRING_LENGTH_LIMIT }) });
const Made = Type.Object({ id: Type.String() });
const unitParameter = Type.Object({ business_unit_id: Type.String() });
const locationParameter = Type.Object({ location_id: Type.String() });

export const locationOperations = {
  listLocations: operation({
    method: 'GET',
    path: '/locations',
    access: 'staff',
    description: 'Business units and their locations, with how many items lie at each.',
    response: Type.Object({
      business_units: Type.Array(
        Type.Object({
          id: Type.String(),
          name: Type.String(),
          locations: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), items: Type.Integer() })),
        }),
      ),
    }),
  }),
  createBusinessUnit: operation({
    method: 'POST',
    path: '/business-units',
    access: 'staff',
    description: 'Makes a business unit, such as a shop. Locations lie in it.',
    body: Named,
    response: Made,
  }),
  renameBusinessUnit: operation({
    method: 'PATCH',
    path: '/business-units/{business_unit_id}',
    access: 'staff',
    description: 'Renames a business unit. Sites learn of it by events.',
    params: unitParameter,
    body: Named,
    response: null,
  }),
  deleteBusinessUnit: operation({
    method: 'DELETE',
    path: '/business-units/{business_unit_id}',
    access: 'staff',
    description: 'Deletes a business unit without locations; 409 `not_empty` if it has some.',
    params: unitParameter,
    response: null,
  }),
  createLocation: operation({
    method: 'POST',
    path: '/business-units/{business_unit_id}/locations',
    access: 'staff',
    description: 'Makes a location in a business unit.',
    params: unitParameter,
    body: Named,
    response: Made,
  }),
  renameLocation: operation({
    method: 'PATCH',
    path: '/locations/{location_id}',
    access: 'staff',
    description: 'Renames a location. Sites learn of it by events.',
    params: locationParameter,
    body: Named,
    response: null,
  }),
  deleteLocation: operation({
    method: 'DELETE',
    path: '/locations/{location_id}',
    access: 'staff',
    description:
      'Deletes a location. Items that lie there have none afterwards. `items` is how many the person was shown; 409 `changed_meanwhile` if it is another number by now.',
    params: locationParameter,
    query: Type.Object({ items: Type.Optional(Type.Integer({ minimum: 0, description: '0 if it is not given.' })) }),
    response: null,
  }),
};
