import { type LookupAddress, Resolver } from 'node:dns';
import { parentPort, workerData } from 'node:worker_threads';
import { RECEIVER_ADDRESSES_LIMIT } from '../../../contract/limits.ts';
import { threadMs } from '../thread-time.ts';
import type { DnsAnswer, DnsQuestion, DnsThreadOptions } from './resolve-in-thread.ts';

/**
 * Runs in a thread of its own. Whoever has a name decides how long its answer is: one of 64 KiB took up to 90 ms to parse, and
 * nothing can be cut before that.
 */
type Lookup = {
  id: number;
  hostname: string;
  resolver: Resolver;
  limit: NodeJS.Timeout;
  isLate: boolean;
  /** By family. Null until its answer has come. */
  answers: { 4: FamilyAnswer | null; 6: FamilyAnswer | null };
  cpuMs: number;
};
type FamilyAnswer = { addresses: LookupAddress[]; error: NodeJS.ErrnoException | null };

const { servers, timeoutMs } = workerData as Required<DnsThreadOptions>;
const TRIES = 2;
/** With several name servers that are silent, all tries of them would take longer than an attempt. */
const LOOKUP_LIMIT_MS = 3 * timeoutMs;
/** What an answer of a few addresses never takes. */
const LARGE_ANSWER_MS = 5;

/** The answers that came in this round of the event loop, with the time since the one before. */
let round: { lookup: Lookup; spentMs: number }[] = [];
let lastMs = threadMs();

parentPort?.on('message', (question: DnsQuestion) => {
  ask(question);
  lastMs = threadMs();
});

function ask({ id, hostname }: DnsQuestion): void {
  // One for each lookup: a resolver that is used again shortens its timeout if other names are answered quickly. And `maxTimeout`
  // keeps it from waiting longer for the second try.
  const resolver = new Resolver({ timeout: timeoutMs, maxTimeout: timeoutMs, tries: TRIES });
  if (servers.length > 0) resolver.setServers(servers);
  const limit = setTimeout(() => {
    lookup.isLate = true;
    resolver.cancel();
  }, LOOKUP_LIMIT_MS);
  const lookup: Lookup = { id, hostname, resolver, limit, isLate: false, answers: { 4: null, 6: null }, cpuMs: 0 };
  resolver.resolve4(hostname, (error, addresses) => onAnswer(lookup, 4, error, addresses));
  resolver.resolve6(hostname, (error, addresses) => onAnswer(lookup, 6, error, addresses));
}

function onAnswer(lookup: Lookup, family: 4 | 6, error: NodeJS.ErrnoException | null, all: string[] | undefined): void {
  const addresses = (all ?? []).slice(0, RECEIVER_ADDRESSES_LIMIT).map((address) => ({ address, family }));
  lookup.answers[family] = { addresses, error };
  if (round.length === 0) setImmediate(endRound);
  const nowMs = threadMs();
  round.push({ lookup, spentMs: nowMs - lastMs });
  lastMs = nowMs;
}

function endRound(): void {
  const total = round.reduce((sum, { spentMs }) => sum + spentMs, 0);
  const payer = payerOf(round);
  if (payer !== undefined) payer.cpuMs += total;
  const ended = new Set(round.map(({ lookup }) => lookup));
  round = [];
  const answers = [...ended].flatMap(answerOf);
  if (answers.length > 0) parentPort?.postMessage(answers);
  lastMs = threadMs();
}

/**
 * Whose answer took the time of a round. All that came in it is parsed before the first one is handed to us, and each once more
 * before it is handed to us. So the time of the first says nothing if that of another is long.
 */
function payerOf([first, ...others]: typeof round): Lookup | undefined {
  const longest = others.toSorted((a, b) => b.spentMs - a.spentMs)[0];
  return longest !== undefined && longest.spentMs > LARGE_ANSWER_MS ? longest.lookup : first?.lookup;
}

/** None while the other family is awaited. */
function answerOf({ id, hostname, limit, isLate, answers, cpuMs }: Lookup): DnsAnswer[] {
  const [ipv4, ipv6] = [answers[4], answers[6]];
  if (ipv4 === null || ipv6 === null) return [];
  clearTimeout(limit);
  const addresses = [...ipv4.addresses, ...ipv6.addresses];
  if (addresses.length > 0 || ipv4.error === null) return [{ id, cpuMs, addresses, error: null }];
  const isCancelled = isLate && ipv4.error.code === 'ECANCELLED';
  const error = isCancelled
    ? { code: 'ETIMEOUT', message: `queryA ETIMEOUT ${hostname}` }
    : { code: ipv4.error.code ?? '', message: ipv4.error.message };
  return [{ id, cpuMs, addresses, error }];
}
