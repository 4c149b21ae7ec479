import { DomainError } from '../../contract/domain-error.ts';

/** Runs a domain function and renames the field in its refusal to the name on the wire, which the form knows. */
export async function withWireFields<Result>(
  names: Readonly<Record<string, string>>,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError) || error.field === undefined) throw error;
    const field = names[error.field];
    throw field === undefined ? error : new DomainError(error.code, error.message, field, { cause: error });
  }
}
