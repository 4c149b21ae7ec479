import Type, { type TSchema } from 'typebox';

export const timestampExample = '2026-05-08T09:00:00.123Z';

export const Timestamp = Type.String({
  format: 'date-time',
  description: 'UTC with milliseconds.',
});

export function Nullable<Schema extends TSchema>(schema: Schema, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}
