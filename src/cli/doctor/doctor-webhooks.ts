import type { Config } from '../../config.ts';
import type { Database } from '../../db/database.ts';
import { signsOfExposure } from '../../service/startup/network-exposure.ts';
import { checkAllSecrets } from '../../webhooks/endpoints/endpoint-status.ts';
import { createSecretEncryption, type SecretEncryption } from '../../webhooks/endpoints/secret-encryption.ts';
import { type Check, ok, warning, wrong } from './check.ts';

const NAMED_LIMIT = 10;

/** Decrypts every signing secret in use: if the keys were changed or lost, nothing can be signed. */
export async function checkSigningSecrets(db: Database, secretKeys: readonly string[]): Promise<Check> {
  const name = 'signing secrets';
  const { total, undecryptable } = await checkAllSecrets(db, decryptionWith(secretKeys));
  if (undecryptable.size > 0) {
    return wrong(
      name,
      `none of the secret keys decrypts those of ${namesOf(undecryptable)}`,
      'put the missing key back behind the others; if it is lost, run "webhooks rotate-secret int_… --grace-hours 0 --force" for each',
    );
  }
  if (total === 0) return ok(name, 'none yet');
  const [newest = ''] = secretKeys;
  const { undecryptable: older } =
    secretKeys.length > 1
      ? await checkAllSecrets(db, createSecretEncryption([newest]))
      : { undecryptable: new Set<string>() };
  const note =
    older.size === 0
      ? ''
      : `; until a worker has encrypted them again, only an older key decrypts those of ${namesOf(older)}`;
  return ok(name, `all ${total} can be decrypted${note}`);
}

/** Private targets are for development. Where others reach the service, a dealer could make it call its neighbours. */
export function checkTargets(config: Config): Check {
  const name = 'webhooks';
  if (!config.isPrivateWebhookAllowed) return ok(name, 'go to https and public addresses only');
  const signs = signsOfExposure(config);
  if (signs.length === 0) return ok(name, 'may go to http and private addresses, for development');
  return warning(
    name,
    `may go to http and private addresses, though ${signs.join(' and ')}`,
    'set WEBHOOK_PRIVATE_TARGETS=off, unless the receivers are in your own network',
  );
}

/** Also without a key, as when the file of keys is missing: then nothing can be decrypted. */
function decryptionWith(secretKeys: readonly string[]): Pick<SecretEncryption, 'decrypt'> {
  if (secretKeys.length > 0) return createSecretEncryption(secretKeys);
  return {
    decrypt() {
      throw new Error('there are no secret keys');
    },
  };
}

function namesOf(integrationIds: Set<string>): string {
  const names = [...integrationIds];
  const rest = names.length - NAMED_LIMIT;
  return names.slice(0, NAMED_LIMIT).join(', ') + (rest > 0 ? ` and ${rest} more integrations` : '');
}
