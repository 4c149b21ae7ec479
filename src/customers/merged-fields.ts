import type { StoredCustomer } from './customer-rows.ts';

/** What people know of a customer. Audit rows name these fields without their values. */
export const PERSONAL_FIELDS = ['email', 'phone', 'firstName', 'lastName', 'company', 'address'] as const;
export type PersonalField = (typeof PERSONAL_FIELDS)[number];

/** A field of two customers, and what becomes of it when they are merged. */
export type MergedField = {
  [Field in PersonalField]: {
    field: Field;
    kept: StoredCustomer[Field];
    merged: StoredCustomer[Field];
    result: StoredCustomer[Field];
  };
}[PersonalField];

/** The kept one keeps what it has, and takes what it lacks. */
export function mergedFields(kept: StoredCustomer, merged: StoredCustomer): MergedField[] {
  return PERSONAL_FIELDS.map(
    (field) =>
      ({ field, kept: kept[field], merged: merged[field], result: kept[field] ?? merged[field] }) as MergedField,
  );
}
