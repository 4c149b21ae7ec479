import crypto, { type BinaryLike, type ScryptOptions } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Loaded into each test process: a password that was hashed with the same salt before is not hashed again. All people of the tests
 * have the same password, and hashing it takes a tenth of a second of CPU time at each sign-in. A hash depends on nothing else.
 */
type Callback = (error: Error | null, key: Buffer) => void;

const realScrypt = crypto.scrypt as (
  password: BinaryLike,
  salt: BinaryLike,
  length: number,
  options: ScryptOptions,
  done: Callback,
) => void;
const known = new Map<string, Buffer>();

crypto.scrypt = ((password: BinaryLike, salt: BinaryLike, length: number, options: ScryptOptions, done: Callback) => {
  const name = JSON.stringify([password, salt, length, options]);
  const key = known.get(name);
  if (key !== undefined) return void setImmediate(() => done(null, Buffer.from(key)));
  realScrypt(password, salt, length, options, (error, made) => {
    if (error === null) known.set(name, Buffer.from(made));
    done(error, made);
  });
}) as typeof crypto.scrypt;
syncBuiltinESMExports();
