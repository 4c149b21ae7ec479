import { openapiDocument } from '../../../contract/openapi/openapi.ts';
import type { OpenHandler } from '../handler.ts';

/**
 * Built once for each base URL, because the endpoint is open to everyone and building the document takes milliseconds.
 */
const texts = new Map<string, string>();

export const getOpenapi: OpenHandler = async ({ context, reply }) => {
  const text = texts.get(context.publicUrl) ?? JSON.stringify(openapiDocument(context.publicUrl));
  texts.set(context.publicUrl, text);
  reply.type('application/json; charset=utf-8');
  return text;
};
