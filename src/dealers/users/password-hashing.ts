import { createKeyedSemaphore } from '../../concurrency/limits/keyed-semaphore.ts';
import { checkedPassword } from '../input-rules.ts';
import { networkOf } from './client-network.ts';

/**
 * A password takes a tenth of a second and 32 MB to hash, on purpose, in a thread of the four that reading files, looking
 * up names and working on photos share. So few are hashed at once, and those who wait are served round-robin by address:
 * somebody who tries many passwords neither fills the threads nor keeps others from signing in.
 */
export const PASSWORDS_AT_ONCE = 2;
const WAITING_LIMIT = 200;
const WAITING_LIMIT_PER_KEY = 50;
const WAIT_LIMIT_MS = 20_000;

const slots = createKeyedSemaphore({
  total: PASSWORDS_AT_ONCE,
  perKey: PASSWORDS_AT_ONCE,
  waitingTotal: WAITING_LIMIT,
  waitingPerKey: WAITING_LIMIT_PER_KEY,
});

/**
 * Runs what hashes or checks one password. The key is the client's address, or the person if one is signed in. Throws a
 * SemaphoreError if too many wait. Never call it inside a transaction: its connection would wait, too.
 */
export async function withPasswordSlot<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
  return await slots.run(networkOf(key), task, { deadlineMs: performance.now() + WAIT_LIMIT_MS });
}

/** Hashes a password in a slot of its own. */
export async function hashedPassword(key: string, password: string): Promise<string> {
  const checked = checkedPassword(password);
  return await withPasswordSlot(key, async () => {
    // Loaded only where somebody sets a password: it brings sixty modules along.
    const { hashPassword } = await import('better-auth/crypto');
    return await hashPassword(checked);
  });
}
