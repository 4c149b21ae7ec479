import Type from 'typebox';
import { CURRENT_VERSION } from '../versions.ts';

export const Health = Type.Object(
  {
    status: Type.Literal('ok'),
    api_version: Type.String({ description: 'The current version of the API.' }),
  },
  { $id: 'Health', description: 'The answer of the liveness probe.' },
);

export const healthExample = { status: 'ok', api_version: CURRENT_VERSION };
