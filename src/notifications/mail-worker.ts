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

/** Mails that a process sends at the same time, each of another dealer. */
const SENDERS_LIMIT = 4;

/**
 * Writes digests and sends what is due. Nothing waits for it: a mail server that hangs delays mail alone. Any number of workers
 * share the work.
 */
export function startMailWorker({ everyMs = EVERY_MS, ...options }: MailWorkerOptions): RepeatedTask {
  const senders = createMailSenders(options);
  const rounds = startRepeating(senders.startRound, { everyMs, onFault: options.onFault });
  return {
    async stop() {
      await rounds.stop();
      await senders.settled();
    },
  };
}

export type MailSenders = {
  /**
   * Lets every sender that is free look for mail, and again when the digests are written: what is due does not wait for their
   * counts. It waits for no sender, since a receiver may hang.
   */
  startRound(signal?: AbortSignal): Promise<void>;
  /** Waits until no mail is under way. */
  settled(): Promise<void>;
};

export function createMailSenders(options: Omit<MailWorkerOptions, 'everyMs'>): MailSenders {
  const { db, now, onFault } = options;
  const senders = new Set<Promise<void>>();
  let servedLast = '';

  async function sendDue(signal: AbortSignal | undefined): Promise<void> {
    while (!signal?.aborted) {
      const mail = await claimMail(db, servedLast, now());
      if (mail === null) return;
      servedLast = mail.organizationId;
      await attempt(options, mail);
    }
  }

  function startFree(signal: AbortSignal | undefined): void {
    while (senders.size < SENDERS_LIMIT) {
      const sender = sendDue(signal)
        .catch(onFault)
        .finally(() => senders.delete(sender));
      senders.add(sender);
    }
  }

  return {
    async startRound(signal) {
      startFree(signal);
      await writeDigests(db, { now: now(), onFault, signal });
      startFree(signal);
    },
    async settled() {
      await Promise.all(senders);
    },
  };
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
