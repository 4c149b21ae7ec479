import { openapiDocument } from '../../../contract/openapi/openapi.ts';
import type { OpenHandler } from '../handler.ts';

/**
 * Built once for each base URL, because the endpoint is open to everyone and building the document takes milliseconds. Kept as
 * bytes: a text would be encoded for each answer, and each client that does not read it would keep a copy of 430 KB.
 */
const documents = new Map<string, Buffer>();

export const getOpenapi: OpenHandler = async ({ context, reply }) => {
  const { publicUrl } = context;
  const bytes = documents.get(publicUrl) ?? Buffer.from(JSON.stringify(openapiDocument(publicUrl)));
  documents.set(publicUrl, bytes);
  reply.type('application/json; charset=utf-8');
  return bytes;
};
