import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import { networkOf, plainAddress } from './client-address.ts';

/**
 * Who sends a request, as far as that is known before anything is done for it. An integration has one name with all its
 * connections, and a person with all sessions. Whoever is not known yet is an address: names that somebody makes up must not
 * have a share each.
 */
export type Senders = {
  /** Who last used the key or the session of a request, else the address that it comes from. */
  of(request: IncomingMessage): string;
  /** The key or the session in these headers is good, and belongs to this integration or person. */
  note(headers: IncomingHttpHeaders, name: string): void;
};

const KNOWN_LIMIT = 10_000;
/** Somebody with a good session can put anything beside it. */
const KEPT_LENGTH_LIMIT = 1_000;

export function createSenders(): Senders {
  const known = new LRUCache<string, string>({ max: KNOWN_LIMIT });
  return {
    of({ headers, socket }) {
      const credential = credentialOf(headers);
      return (
        (credential === undefined ? undefined : known.get(credential)) ??
        networkOf(plainAddress(socket.remoteAddress ?? ''))
      );
    },
    note(headers, name) {
      const credential = credentialOf(headers);
      if (credential === undefined || credential.length > KEPT_LENGTH_LIMIT) return;
      if (known.peek(credential) !== name) known.set(credential, name);
    },
  };
}

function credentialOf({ authorization, cookie }: IncomingHttpHeaders): string | undefined {
  return authorization ?? cookie;
}
