import { DomainError } from '../../../contract/domain-error.ts';
import type { Database } from '../../../db/database.ts';
import { checkAllSecrets, readSecrets } from '../../../webhooks/endpoints/endpoint-status.ts';
import type { SecretEncryption } from '../../../webhooks/endpoints/secret-encryption.ts';

export const FORCE_OPTION = [
  '--force',
  'create a secret even if the secret keys at hand do not decrypt those that are stored',
] as const;

/**
 * Refuses to create a signing secret under keys that are not the service's, as in a terminal without its settings: the service
 * could not decrypt it, and the webhooks would wait. Whether they fit shows at the integration's secrets or, if it has none, at
 * all others. If they decrypt some and not others, a key was lost, and these are the service's.
 */
export async function assertKeysFit(db: Database, encryption: SecretEncryption, integrationId: string): Promise<void> {
  const own = await readSecrets(db, encryption, integrationId);
  if (own.some((secret) => secret.isDecryptable)) return;
  const all = own.length === 0 ? await checkAllSecrets(db, encryption) : { total: own.length, decryptable: 0 };
  if (all.total === 0 || all.decryptable > 0) return;
  const which = own.length === 0 ? 'any stored signing secret' : `the signing secret of ${integrationId}`;
  throw new DomainError(
    'invalid_input',
    `The secret keys at hand do not decrypt ${which}, so they are probably not the service's, and the service could not sign with a secret that is created with them. Set SECRET_KEYS or DATA_DIR as for the service. If the service runs with these keys and the old one is lost, add --force.`,
  );
}
