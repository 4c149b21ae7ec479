import type { Attack } from './attack.ts';
import { CONNECTION_ATTACKS } from './connections.ts';
import { DASHBOARD_ATTACKS } from './dashboard.ts';
import { PARSER_ATTACKS } from './parsers.ts';
import { PHOTO_ATTACKS } from './photos.ts';
import { READ_ATTACKS } from './reads.ts';
import { WEBHOOK_ATTACKS } from './webhooks.ts';
import { WRITE_ATTACKS } from './writes.ts';

export const ATTACKS: Attack[] = [
  ...PARSER_ATTACKS,
  ...READ_ATTACKS,
  ...PHOTO_ATTACKS,
  ...WRITE_ATTACKS,
  ...CONNECTION_ATTACKS,
  ...WEBHOOK_ATTACKS,
  ...DASHBOARD_ATTACKS,
];
