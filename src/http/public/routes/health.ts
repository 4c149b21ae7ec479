import { CURRENT_VERSION } from '../../../contract/versions.ts';
import type { OpenHandler } from '../handler.ts';

export const getHealth: OpenHandler = async () => ({ status: 'ok', api_version: CURRENT_VERSION });
