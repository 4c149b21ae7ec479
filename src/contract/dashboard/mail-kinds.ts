/** What people can get mail about. The names are those of counted activity. */
export const MAIL_KINDS = {
  orders: 'New orders in the queue',
  conflicts: 'Orders whose buyer may be two customers',
  dead_letters: 'Webhooks that were given up after their last attempt',
  webhooks_off: 'Webhooks that were switched off because the receiver answered 410',
} as const;
export type MailKind = keyof typeof MAIL_KINDS;
export const MAIL_KIND_NAMES = Object.keys(MAIL_KINDS) as MailKind[];
