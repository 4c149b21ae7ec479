import { Ajv, type ErrorObject } from 'ajv';
import addFormats from 'ajv-formats';
import type { FastifySchemaCompiler, SafePromiseLike } from 'fastify';
import { eventLoopSlices, type Steps } from '../../concurrency/time-slices.ts';
import { ApiError } from '../../contract/errors.ts';
import { EXPECTED_ANNOTATION, NOT_ANNOTATION } from '../../contract/openapi/openapi-schemas.ts';
import { keyOfLargeBody } from '../json/json-body.ts';
import { lazy } from '../lazy.ts';
import { validationMessage } from './validation-messages.ts';

// What comes is taken as it is: no coercion, no defaults, nothing stripped.
// A fault comes with its value and its schema, for the message. The schemas are our own, and tests hold them against the
// meta-schema: doing it here would hold up the first request for a tenth of a second.
const ajv = new Ajv({ strict: true, allErrors: false, verbose: true, validateSchema: false });
ajv.addVocabulary([EXPECTED_ANNOTATION, NOT_ANNOTATION]);
addFormats.default(ajv);
refuseLeapSeconds();

/**
 * Validates with the contract's schemas and throws `invalid_request` with the exact path of the first fault. The first
 * request of a route compiles its schemas, in a few milliseconds; all of them at once would double the time of a start.
 */
export const validatorCompiler: FastifySchemaCompiler<object> = ({ schema, httpPart }) => {
  const isText = httpPart !== 'body';
  const compiled = lazy(() => ajv.compile(withoutIds(schema) as object));
  const compiledInSteps = lazy(() => (isText ? null : listValidation(schema)));
  return (input: unknown) => {
    const key = keyOfLargeBody(input);
    const validateInSteps = key === undefined ? null : compiledInSteps();
    // Fastify awaits it and treats what it throws as the validation error.
    if (key !== undefined && validateInSteps !== null) {
      return eventLoopSlices.run(key, validateInSteps(input)) as unknown as SafePromiseLike<boolean>;
    }
    const validate = compiled();
    const data = isText ? withNumbers(schema, input) : input;
    if (validate(data)) return { value: data };
    return { error: toApiError(mainFault(validate.errors ?? []), data, isText) };
  };
};

type ObjectSchema = { properties?: Record<string, { items?: object }> };

/**
 * The same validation in steps, for a schema whose only field is a list: first all but the items, then one after the other.
 * A thousand customers of the largest size take 40 ms. Null for any other schema.
 */
function listValidation(schema: object): ((data: unknown) => Steps<boolean>) | null {
  const { properties = {} } = schema as ObjectSchema;
  const [[name, list] = ['', {}], ...others] = Object.entries(properties);
  if (list.items === undefined || others.length > 0) return null;
  const validateRest = ajv.compile(withoutIds({ ...schema, properties: { [name]: { ...list, items: {} } } }) as object);
  const validateItem = ajv.compile(withoutIds(list.items) as object);
  return function* validateSteps(data) {
    if (!validateRest(data)) throw toApiError(mainFault(validateRest.errors ?? []), data);
    for (const [index, item] of ((data as Record<string, unknown[]>)[name] ?? []).entries()) {
      if (!validateItem(item)) {
        const fault = mainFault(validateItem.errors ?? []);
        const path = `/${name}/${index}${fault?.instancePath ?? ''}`;
        throw toApiError(fault === undefined ? undefined : { ...fault, instancePath: path }, data);
      }
      yield;
    }
    return true;
  };
}

/** The format takes leap seconds, as RFC 3339 does. No `Date` can be made of one, and every handler makes a `Date` of a time. */
function refuseLeapSeconds(): void {
  const { validate } = addFormats.default.get('date-time') as { validate(text: string): boolean };
  ajv.addFormat('date-time', { validate: (text: string) => validate(text) && !Number.isNaN(Date.parse(text)) });
}

const INTEGER = /^-?\d+$/;

/**
 * A query is text; where the schema wants an integer, digits are read as one. Ajv's own coercion also takes "0x10",
 * " 5" and "Infinity", the last of which passes every maximum. Names that the schema does not have are left out: a query of
 * 3,900 of them took 3 ms here, also where no key is needed.
 */
function withNumbers(schema: object, input: unknown): unknown {
  const { properties = {} } = schema as { properties?: Record<string, { type?: string }> };
  const given = input as Record<string, unknown>;
  const known = Object.entries(properties).filter(([name]) => Object.hasOwn(given, name));
  const entries = known.map(([name, { type }]) => {
    const value = given[name];
    const isNumber = type === 'integer' && typeof value === 'string' && INTEGER.test(value);
    return [name, isNumber ? Number(value) : value];
  });
  return Object.fromEntries(entries);
}

/** `$id` is for OpenAPI. A validator that saw it would refuse a schema that occurs twice. */
function withoutIds(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutIds);
  if (schema === null || typeof schema !== 'object') return schema;
  const named = Object.entries(schema).filter(([key, value]) => key !== '$id' || typeof value !== 'string');
  return Object.fromEntries(named.map(([key, value]) => [key, withoutIds(value)]));
}

/**
 * Of the errors of a union, the deepest is reported, because its branch fits best. If no branch fits at all, the
 * message names every type.
 */
function mainFault(faults: ErrorObject[]): ErrorObject | undefined {
  const own = faults.filter((fault) => fault.keyword !== 'anyOf');
  const depthOf = (fault: ErrorObject) => fault.instancePath.split('/').length;
  const deepest = Math.max(...own.map(depthOf));
  const candidates = own.filter((fault) => depthOf(fault) === deepest);
  const [first] = candidates;
  if (first === undefined) return faults[0];
  const beyondType = candidates.find((fault) => fault.keyword !== 'type');
  return beyondType ?? { ...first, params: { type: candidates.flatMap((fault) => fault.params.type) } };
}

function toApiError(fault: ErrorObject | undefined, data: unknown, isQuery = false): ApiError {
  if (fault === undefined) return new ApiError('invalid_request');
  const param = pathOf(fault, data);
  const text = isQuery && Array.isArray(fault.data) ? repeated(fault.data) : validationMessage(fault);
  const message = `${param === '' ? 'The body' : param} ${text}.`;
  return new ApiError('invalid_request', param === '' ? { message } : { message, param });
}

function repeated(values: unknown[]): string {
  return `must be sent once, not ${values.length} times`;
}

/** `/lines/0/quantity` becomes `lines[0].quantity`; a missing field is named itself, not its parent. */
function pathOf(fault: ErrorObject, data: unknown): string {
  const segments = fault.instancePath
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (fault.keyword === 'required') segments.push(String(fault.params.missingProperty));
  let path = '';
  let value = data;
  for (const segment of segments) {
    if (Array.isArray(value)) path += `[${segment}]`;
    else path += path === '' ? segment : `.${segment}`;
    value = (value as Record<string, unknown> | undefined)?.[segment];
  }
  return path;
}
