import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { GroupedKey } from '../../concurrency/limits/keyed-semaphore.ts';
import { networkOf } from '../../dealers/users/client-network.ts';
import { clientAddress, type TrustedProxies } from './client-address.ts';

/**
 * Who sends a request, as far as that is known before anything is done for it: an integration with all its connections or a
 * person with all sessions, in the group of their dealer. Whoever is not known yet is a network: names that somebody makes
 * up must not have a share each.
 */
export type Senders = {
  /** Who last used the key or the session of a request, else the network that it comes from. */
  of(request: IncomingMessage): GroupedKey;
  /** The key or the session in these headers is good, and belongs to this integration or person. */
  note(headers: IncomingHttpHeaders, sender: GroupedKey): void;
};

const KNOWN_LIMIT = 10_000;
/** Somebody with a good session can put anything beside it. */
const KEPT_LENGTH_LIMIT = 1_000;

export function createSenders(trustedProxies: TrustedProxies): Senders {
  const known = new LRUCache<string, GroupedKey>({ max: KNOWN_LIMIT });
  return {
    of(request) {
      const credential = credentialOf(request.headers);
      const sender = credential === undefined ? undefined : known.get(credential);
      if (sender !== undefined) return sender;
      const network = networkOf(clientAddress(request, trustedProxies));
      return { group: network, key: network };
    },
    note(headers, sender) {
      const credential = credentialOf(headers);
      if (credential === undefined || credential.length > KEPT_LENGTH_LIMIT) return;
      const last = known.peek(credential);
      if (last?.key !== sender.key || last.group !== sender.group) known.set(credential, sender);
    },
  };
}

function credentialOf({ authorization, cookie }: IncomingHttpHeaders): string | undefined {
  return authorization ?? cookie;
}
