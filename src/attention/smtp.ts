import { createTransport } from 'nodemailer';
import type { MailResult } from './mail-queue.ts';

/** Where mail goes, and from whom. The URL may hold a password. */
export type MailSettings = Readonly<{ url: string; from: string }>;

export type Mail = { id: string; to: string; subject: string; text: string };

export type Mailer = {
  /** Never throws: what went wrong is the result. */
  send(mail: Mail): Promise<MailResult>;
  /** Connects and signs in; throws what went wrong. */
  verify(): Promise<void>;
};

/** For each step of a connection. */
const STEP_TIMEOUT_MS = 10_000;
/** For all of an attempt, whatever the server does. Below the lease. */
const ATTEMPT_TIMEOUT_MS = 60_000;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const PERMANENT = 500;

export type MailTimeouts = { stepMs: number; attemptMs: number };
const TIMEOUTS: MailTimeouts = { stepMs: STEP_TIMEOUT_MS, attemptMs: ATTEMPT_TIMEOUT_MS };

export function createMailer({ url, from }: MailSettings, { stepMs, attemptMs }: MailTimeouts = TIMEOUTS): Mailer {
  const { protocol, hostname, port, username, password } = new URL(url);
  const isSecure = protocol === 'smtps:';

  function connect() {
    return createTransport({
      host: hostname.replace(/^\[|\]$/g, ''),
      ...(port === '' ? {} : { port: Number(port) }),
      secure: isSecure,
      // A password never goes over the network in the clear.
      requireTLS: !isSecure && username !== '' && !LOOPBACK.has(hostname),
      ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
      connectionTimeout: stepMs,
      greetingTimeout: stepMs,
      socketTimeout: stepMs,
      dnsTimeout: stepMs,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  async function withinLimit<Result>(
    work: (transport: ReturnType<typeof connect>) => Promise<Result>,
  ): Promise<Result> {
    const transport = connect();
    const { promise: tooLate, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error(`no answer within ${attemptMs} ms`)), attemptMs);
    try {
      return await Promise.race([work(transport), tooLate]);
    } finally {
      clearTimeout(timer);
      transport.close();
    }
  }

  return {
    async send({ id, to, subject, text }) {
      const headers = { 'auto-submitted': 'auto-generated' };
      // The same id for every attempt: a mailbox that gets a mail twice can tell.
      const messageId = `<${id}@${hostname}>`;
      try {
        await withinLimit((transport) => transport.sendMail({ from, to, subject, text, headers, messageId }));
        return { isSent: true };
      } catch (error) {
        return { isSent: false, isFinal: isPermanent(error), error: textOf(error) };
      }
    },
    verify: () => withinLimit(async (transport) => void (await transport.verify())),
  };
}

/** The server refuses this mail for good. A refused password is not the mail's fault, and an operator can put it right. */
function isPermanent(error: unknown): boolean {
  const { responseCode = 0, code = '' } = error as { responseCode?: number; code?: string };
  return responseCode >= PERMANENT && code !== 'EAUTH';
}

/** Without the server's words, which may repeat an address. */
function textOf(error: unknown): string {
  const { responseCode, code, message } = error as { responseCode?: number; code?: string; message?: string };
  if (responseCode !== undefined) return `the server answered ${responseCode} (${code ?? 'refused'})`;
  return message ?? String(error);
}
