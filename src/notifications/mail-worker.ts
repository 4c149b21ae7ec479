import { type RepeatedTask, startRepeating } from '../concurrency/repeat.ts';
import type { Database } from '../db/database.ts';
import { confirmationCode } from './mail-confirmation.ts';
import { type ClaimedMail, claimMail, recordMail } from './mail-queue.ts';
import { confirmationText, mailText } from './mail-text.ts';
import type { Mailer } from './smtp.ts';
import { writeDigests } from './write-digests.ts';

export type MailWorkerOptions = {
  db: Database;
  mailer: Mailer;
  publicUrl: string;
  /** The key that codes are computed with. */
  secretKey: string;
  now: () => Date | null;
  onFault: (error: unknown) => void;
  /** What the operator's log gets of a mail that is given up: no address and no text. */
  onGivenUp: (mail: { id: string; attempts: number; error: string }) => void;
  everyMs?: number;
};

const EVERY_MS = 15_000;

/**
 * Writes digests and sends what is due, one mail after the other. Nothing waits for it: a mail server that hangs delays mail
 * alone. Any number of workers share the work.
 */
export function startMailWorker({ everyMs = EVERY_MS, ...options }: MailWorkerOptions): RepeatedTask {
  return startRepeating((signal) => runMail(options, signal), { everyMs, onFault: options.onFault });
}

export async function runMail(options: Omit<MailWorkerOptions, 'everyMs'>, signal?: AbortSignal): Promise<void> {
  const { db, now } = options;
  await writeDigests(db, now(), signal);
  while (!signal?.aborted) {
    const mail = await claimMail(db, now());
    if (mail === null) return;
    await attempt(options, mail);
  }
}

async function attempt(options: Omit<MailWorkerOptions, 'everyMs'>, mail: ClaimedMail): Promise<void> {
  const { db, mailer, publicUrl, secretKey, now, onGivenUp } = options;
  const { id, email: to } = mail;
  const text = mail.isConfirmation
    ? confirmationText(confirmationCode(secretKey, mail), publicUrl)
    : mailText(mail, publicUrl);
  const result = await mailer.send({ id, to, ...text });
  const { isGivenUp } = await recordMail(db, mail, result, now());
  if (isGivenUp && !result.isSent) onGivenUp({ id, attempts: mail.attempts + 1, error: result.error });
}
