import type { Config } from '../../config.ts';
import { createMailer } from '../../notifications/smtp.ts';
import { type Check, ok, wrong } from './check.ts';

const NAME = 'mail';

/** Connects to the mail server and signs in. Sends nothing. */
export async function checkMail({ mail }: Config): Promise<Check> {
  if (mail === null) return ok(NAME, 'off; SMTP_URL and MAIL_FROM turn it on');
  // The URL may hold a password.
  const { host } = new URL(mail.url);
  try {
    await createMailer(mail).verify();
    return ok(NAME, `${host} takes mail from ${mail.from}`);
  } catch (error) {
    const reason = (error as Error).message.replaceAll('\n', ' ');
    return wrong(
      NAME,
      `${host} cannot be used: ${reason}`,
      'check SMTP_URL, and that this machine can reach the server',
    );
  }
}
