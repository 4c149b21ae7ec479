import Type, { type TSchema } from 'typebox';
import { EXPECTED_ANNOTATION } from '../openapi/openapi-schemas.ts';

/** Schemas that many shapes are built from. */

export function nullable<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], described(description));
}

export function oneOf<const Value extends string>(values: readonly Value[], description?: string) {
  return Type.Unsafe<Value>({ type: 'string', enum: [...values], ...described(description) });
}

function described(description: string | undefined): { description?: string } {
  return description === undefined ? {} : { description };
}

/** An integration and a location as lists and filters name them. */
export const NamedIntegration = Type.Object({ integration_id: Type.String(), name: Type.String() });
export const NamedLocation = Type.Object({ id: Type.String(), name: Type.String(), business_unit: Type.String() });

/** For what has no revision that would refuse it the second time. */
export const Attempt = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 64,
    pattern: '^[0-9A-Za-z-]+$',
    [EXPECTED_ANNOTATION]: 'letters, digits and hyphens',
    description:
      'A name for this attempt. Sent again with it, the operation is done once, and answers as before. With another request it is refused.',
  }),
);

/** The job that an operation has started. */
export const StartedJob = Type.Object({ job_id: Type.String() });
