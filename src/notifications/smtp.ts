import { Socket } from 'node:net';
import type { MailResult } from './mail-queue.ts';

/** Where mail goes, and from whom. The URL may hold a password. */
export type MailSettings = Readonly<{ url: string; from: string }>;

export type Mail = { id: string; to: string; subject: string; text: string };

export type Mailer = {
  /** Sends a mail. It never throws: a fault is its result. */
  send(mail: Mail): Promise<MailResult>;
  /** Connects and signs in, to check the settings; throws if that fails. */
  verify(): Promise<void>;
};

/** The limit of each step of a connection. */
const STEP_TIMEOUT_MS = 10_000;
/** The limit of a whole attempt, whatever the server does. It is shorter than the lease. */
const ATTEMPT_TIMEOUT_MS = 60_000;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const PERMANENT = 500;

export type MailTimeouts = { stepMs: number; attemptMs: number };
const TIMEOUTS: MailTimeouts = { stepMs: STEP_TIMEOUT_MS, attemptMs: ATTEMPT_TIMEOUT_MS };

export function createMailer({ url, from }: MailSettings, { stepMs, attemptMs }: MailTimeouts = TIMEOUTS): Mailer {
  const { protocol, hostname, port, username, password } = new URL(url);
  const isSecure = protocol === 'smtps:';

  async function connect(socket: Socket) {
    // Not everybody sends mail.
    const { createTransport } = await import('nodemailer');
    return createTransport({
      socket,
      host: hostname.replace(/^\[|\]$/g, ''),
      ...(port === '' ? {} : { port: Number(port) }),
      secure: isSecure,
      // A password is never sent without encryption.
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
    work: (transport: Awaited<ReturnType<typeof connect>>) => Promise<Result>,
  ): Promise<Result> {
    const socket = new Socket();
    const transport = await connect(socket);
    const { promise: tooLate, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => {
      reject(new Error(`no answer within ${attemptMs} ms`));
      // Closing the transport leaves the connection of an attempt that is under way open.
      socket.destroy();
    }, attemptMs);
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
      // The id is the same for every attempt, so that a mailbox recognizes a mail that it gets twice.
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

/** The server's own text is left out, because it may repeat an address. */
function textOf(error: unknown): string {
  const { responseCode, code, message } = error as { responseCode?: number; code?: string; message?: string };
  if (responseCode !== undefined) return `the server answered ${responseCode} (${code ?? 'refused'})`;
  return message ?? String(error);
}
