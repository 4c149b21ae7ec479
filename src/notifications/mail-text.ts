import { MAIL_KIND_NAMES, type MailKind } from '../contract/dashboard/mail-kinds.ts';
import { GONE_LIMIT } from '../contract/limits.ts';
import type { ClaimedMail } from './mail-queue.ts';

type Line = { one: string; many: string; path: string };

const LINES: Record<MailKind, Line> = {
  orders: { one: 'new order waits in the queue', many: 'new orders wait in the queue', path: '/orders' },
  conflicts: {
    one: 'order names a buyer who may be two customers',
    many: 'orders name a buyer who may be two customers',
    path: '/customers?tab=conflicts',
  },
  dead_letters: {
    one: 'webhook was given up after its last attempt',
    many: 'webhooks were given up after their last attempt',
    path: '/deliveries?status=dead_letter',
  },
  webhooks_off: {
    one: `website gets no webhooks any more: its receiver answered 410 Gone ${GONE_LIMIT} times`,
    many: `websites get no webhooks any more: their receivers answered 410 Gone ${GONE_LIMIT} times`,
    path: '/integrations',
  },
};

/** Counts and links, and nothing about a customer or an order: mail is read on many machines. */
export function mailText(
  { organizationName, counts }: Pick<ClaimedMail, 'organizationName' | 'counts'>,
  publicUrl: string,
): { subject: string; text: string } {
  const news = MAIL_KIND_NAMES.flatMap((kind) => {
    const count = counts[kind] ?? 0;
    const { one, many, path } = LINES[kind];
    return count === 0 ? [] : [{ sentence: `${count} ${count === 1 ? one : many}`, link: `${publicUrl}${path}` }];
  });
  const [first = { sentence: 'News' }] = news;
  const more = news.length > 1 ? ' and more' : '';
  return {
    subject: `${organizationName}: ${first.sentence}${more}`,
    text: [
      ...news.map(({ sentence, link }) => `${sentence}\n${link}\n`),
      `Crownwheel writes at most once an hour about the same thing. Choose what you get: ${publicUrl}/settings/account`,
      '',
    ].join('\n'),
  };
}

/**
 * To an address that may be a stranger's: it says why it came, and that nothing follows by itself. It carries nothing that
 * somebody has typed, such as the name of the business: anybody could have us mail their text to anybody.
 */
export function confirmationText(code: string, publicUrl: string): { subject: string; text: string } {
  return {
    subject: `Your code is ${code}`,
    text: [
      `This is Crownwheel, the service at ${publicUrl}. Somebody with an account there has asked for mail to this address.`,
      '',
      `If it was you, enter this code at ${publicUrl}/settings/account`,
      '',
      code,
      '',
      'If it was not you, ignore this mail. Nothing else is sent to you unless the code is entered.',
      '',
    ].join('\n'),
  };
}
