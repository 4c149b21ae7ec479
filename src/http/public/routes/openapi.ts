import { openapiDocument } from '../../../contract/openapi.ts';
import type { OpenHandler } from '../public-routes.ts';

export const getOpenapi: OpenHandler = async ({ context }) => openapiDocument(context.publicUrl);
