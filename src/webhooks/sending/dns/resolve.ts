import { type LookupAddress, lookup as systemLookup } from 'node:dns';
import { RECEIVER_ADDRESSES_LIMIT } from '../../../contract/limits.ts';

/** The addresses that a name leads to. What the lookup costs is the dealer's. */
export type Resolve = (hostname: string, dealer: string) => Promise<LookupAddress[]>;

/**
 * The answer that any program on this machine gets; for development. It occupies one of six threads of the process until it has
 * an answer.
 */
export const resolveBySystem: Resolve = async (hostname) =>
  await new Promise((resolve, reject) => {
    systemLookup(hostname, { all: true }, (error, addresses) =>
      error === null ? resolve(fewOf(addresses)) : reject(error),
    );
  });

/** A name may have thousands of addresses, and each of them is checked and tried. */
function fewOf(addresses: LookupAddress[]): LookupAddress[] {
  const countOf: Record<number, number> = {};
  return addresses.filter(({ family }) => {
    const count = (countOf[family] ?? 0) + 1;
    countOf[family] = count;
    return count <= RECEIVER_ADDRESSES_LIMIT;
  });
}
