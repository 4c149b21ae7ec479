import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import type { FastifySchemaCompiler } from 'fastify';
import { ApiError } from '../contract/errors.ts';

// Bodies are taken as they are: no coercion, no defaults, nothing stripped. A query is text, so numbers in it are read.
const bodies = new Ajv({ strict: true, allErrors: false, validateFormats: true });
const queries = new Ajv({ strict: true, allErrors: false, coerceTypes: true });
for (const ajv of [bodies, queries]) {
  addFormats.default(ajv);
}

/** Validates with the contract's schemas and throws `invalid_request` with the exact path of the first fault. */
export const validatorCompiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  const validate = (httpPart === 'body' ? bodies : queries).compile(withoutIds(schema) as object);
  return (data: unknown) => {
    if (validate(data)) return { value: data };
    const [fault] = validate.errors ?? [];
    return { error: fault === undefined ? new ApiError('invalid_request') : toApiError(fault) };
  };
};

/** Names are for OpenAPI; a validator that knew them would refuse a schema that occurs twice. */
function withoutIds(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutIds);
  if (schema === null || typeof schema !== 'object') return schema;
  const named = Object.entries(schema).filter(([key, value]) => key !== '$id' || typeof value !== 'string');
  return Object.fromEntries(named.map(([key, value]) => [key, withoutIds(value)]));
}

function toApiError(fault: ErrorObject): ApiError {
  const param = pathOf(fault);
  const message = `${param === '' ? 'The body' : param} ${textOf(fault)}.`;
  return new ApiError('invalid_request', param === '' ? { message } : { message, param });
}

/** `/lines/0/quantity` becomes `lines[0].quantity`; a missing field is named itself, not its parent. */
function pathOf(fault: ErrorObject): string {
  const segments = fault.instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (fault.keyword === 'required') segments.push(String(fault.params.missingProperty));
  return segments.reduce(
    (path, segment) => (/^\d+$/.test(segment) ? `${path}[${segment}]` : path === '' ? segment : `${path}.${segment}`),
    '',
  );
}

function textOf(fault: ErrorObject): string {
  switch (fault.keyword) {
    case 'required':
      return 'is required';
    case 'type':
      return `must be ${listed([fault.params.type].flat().map(withArticle))}`;
    case 'enum':
      return `must be one of ${(fault.params.allowedValues as unknown[]).join(', ')}`;
    case 'minLength':
      return fault.params.limit === 1 ? 'must not be empty' : `must have at least ${fault.params.limit} characters`;
    case 'maxLength':
      return `must have at most ${fault.params.limit} characters`;
    case 'minItems':
      return `must have at least ${fault.params.limit} items`;
    case 'maxItems':
      return `must have at most ${fault.params.limit} items`;
    default:
      return fault.message ?? 'is not valid';
  }
}

function withArticle(type: string): string {
  if (type === 'null') return type;
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function listed(parts: string[]): string {
  return parts.join(' or ');
}
