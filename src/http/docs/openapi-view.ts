import { openapiDocument } from '../../contract/openapi/openapi.ts';
import type { Operation } from '../../contract/operations/operation.ts';
import type { JsonSchema } from './markup/schema-fields.ts';

/** What the pages take from the OpenAPI description instead of deriving it a second time. */
export type OpenapiView = {
  tags: readonly { name: string; description: string }[];
  /** Every header that a response can carry, with what it means. */
  headers: Readonly<Record<string, { description: string; example: unknown }>>;
  errorSchema: JsonSchema;
  exampleRequestId: string;
  parametersOf(operation: Operation): readonly Parameter[];
  /** The names of the headers that an operation's answer carries when it succeeds. */
  successHeadersOf(operation: Operation): readonly string[];
};

export type Parameter = {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: JsonSchema;
  example?: unknown;
};

type Document = {
  tags: OpenapiView['tags'];
  paths: Record<string, Record<string, DescribedOperation>>;
  components: {
    headers: OpenapiView['headers'];
    schemas: { Error: JsonSchema };
  };
};

type DescribedOperation = {
  parameters: Parameter[];
  responses: Record<string, { headers: Record<string, unknown> }>;
};

export function openapiView(publicUrl: string): OpenapiView {
  const document = openapiDocument(publicUrl) as Document;
  const described = (operation: Operation) => document.paths[operation.path]?.[operation.method.toLowerCase()];
  return {
    tags: document.tags,
    headers: document.components.headers,
    errorSchema: document.components.schemas.Error,
    exampleRequestId: String(document.components.headers['X-Request-Id']?.example),
    parametersOf: (operation) => described(operation)?.parameters ?? [],
    successHeadersOf: (operation) =>
      Object.keys(described(operation)?.responses[operation.success.status]?.headers ?? {}),
  };
}
