import Type, { type TSchema } from 'typebox';

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
