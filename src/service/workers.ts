import type { FastifyBaseLogger } from 'fastify';
import { pruneActivity } from '../activity/activity-counts.ts';
import { pruneAudit } from '../audit/prune-audit.ts';
import type { ChannelContext } from '../channel/context.ts';
import { startChannelWorker } from '../channel/jobs/worker.ts';
import { type RepeatedTask, startRepeating } from '../concurrency/repeat.ts';
import { type Config, sharesDatabase } from '../config.ts';
import { GONE_LIMIT } from '../contract/limits.ts';
import { pruneAttempts } from '../dealers/users/sign-in-attempts.ts';
import { pruneApiRequests } from '../http/logging/api-requests.ts';
import { pruneRecords } from '../http/public/writes/idempotency-records.ts';
import { pruneStorageUsage } from '../http/public/writes/storage-quota.ts';
import { startStockJobWorker } from '../inventory/jobs/stock-job-worker.ts';
import { startPhotoSweep } from '../inventory/photos/photo-sweep.ts';
import type { PhotoFiles } from '../inventory/photos/storage/photo-files.ts';
import { outcomeNotifier } from '../live/notify-dashboards.ts';
import { pruneMailLimits } from '../notifications/mail-limits.ts';
import { pruneMails } from '../notifications/mail-queue.ts';
import { startMailWorker } from '../notifications/mail-worker.ts';
import { createMailer, type MailSettings } from '../notifications/smtp.ts';
import { pruneDealerStorageUsage } from '../quota/storage-usage.ts';
import { startDeletionWorker } from '../sales/deletion/deletion-worker.ts';
import { startErasureWorker } from '../sales/erasure/erasure-worker.ts';
import { pruneReservations } from '../sales/reservations/expire-reservations.ts';
import { startReservationExpiry } from '../sales/reservations/expiry-worker.ts';
import { createSecretEncryption } from '../webhooks/endpoints/secret-encryption.ts';
import { endDnsThread } from '../webhooks/sending/dns/name-lookups.ts';
import { createSsrfGuard } from '../webhooks/sending/ssrf-guard.ts';
import { type DeliveryWorker, startDeliveryWorker } from '../webhooks/worker/delivery-worker.ts';
import { listenForWake } from '../webhooks/worker/wake-up.ts';
import { STOCK_JOB_KINDS_RUN } from './stock-job-kinds.ts';

/** Everything that the role `worker` does in the background. */
export type Workers = Pick<DeliveryWorker, 'claimAtCommit'> & {
  /** There are new events: send them now instead of at the next poll. */
  wake(): void;
  stop(): Promise<void>;
};

const PRUNE_EVERY_MS = 60_000;

export function startWorkers(
  config: Config,
  channel: ChannelContext,
  photoFiles: PhotoFiles,
  log: FastifyBaseLogger,
): Workers {
  const { db } = channel;
  const onFault = (what: string) => (error: unknown) => log.error({ err: error }, what);
  const guard = createSsrfGuard(config.isPrivateWebhookAllowed);
  const worker = startDeliveryWorker({
    db,
    encryption: createSecretEncryption(config.secretKeys),
    guard,
    now: channel.now,
    onFault: onFault('the delivery worker met a fault'),
    ...(channel.notifyDashboards === undefined ? {} : { onRecorded: outcomeNotifier(db, channel.notifyDashboards) }),
    onNotice: (notice) => {
      if (notice.kind === 'disabled') {
        log.warn(
          { integrations: notice.integrationIds },
          `webhooks are turned off: the receiver answered 410 Gone ${GONE_LIMIT} times in a row`,
        );
      } else {
        log.warn({ deliveries: notice.counts }, 'webhooks became dead letters: their last attempt failed');
      }
    },
  });
  const running = [
    worker,
    startChannelWorker(channel, onFault('the channel worker met a fault')),
    startStockJobWorker(
      { ...channel, photoFiles, guard, dashboardStorageQuotaMbPerDay: config.dashboardStorageQuotaMbPerDay },
      STOCK_JOB_KINDS_RUN,
      onFault('a job on stock met a fault'),
    ),
    startDeletionWorker(channel, onFault('what was deleted could not be removed')),
    startErasureWorker(channel, onFault('a person could not be erased')),
    startReservationExpiry(channel, onFault('reservations could not be ended')),
    startPhotoSweep(db, photoFiles, onFault('photos could not be swept')),
    startPruning((now) => pruneRecords(db, now), channel, onFault('idempotency records could not be pruned')),
    startPruning((now) => pruneStorageUsage(db, now), channel, onFault('storage usage could not be pruned')),
    startPruning(
      (now) => pruneDealerStorageUsage(db, now),
      channel,
      onFault('storage usage of dealers could not be pruned'),
    ),
    startPruning((now) => pruneApiRequests(db, now), channel, onFault('logged requests could not be pruned')),
    startPruning((now) => pruneActivity(db, now), channel, onFault('counts of activity could not be pruned')),
    startPruning((now) => pruneReservations(db, now), channel, onFault('reservations could not be pruned')),
    startPruning(() => pruneAttempts(db), channel, onFault('attempts to sign in could not be pruned')),
    startPruning((now) => pruneAudit(db, config.auditDays, now), channel, onFault('the audit log could not be pruned')),
    startPruning((now) => pruneMails(db, now), channel, onFault('mails could not be pruned')),
    startPruning((now) => pruneMailLimits(db, now), channel, onFault('counts of mails could not be pruned')),
    ...(config.mail === null ? [] : [startMail(config.mail, config.secretKeys[0] ?? '', channel, log)]),
    // Other nodes can commit events only on a database that they share.
    ...(sharesDatabase(config) ? [listenForWake(db, worker.wake)] : []),
  ];
  return {
    wake: worker.wake,
    claimAtCommit: worker.claimAtCommit,
    async stop() {
      await Promise.all(running.map((worker) => worker.stop()));
      await endDnsThread();
    },
  };
}

function startMail(
  settings: MailSettings,
  secretKey: string,
  { db, publicUrl, now }: ChannelContext,
  log: FastifyBaseLogger,
): RepeatedTask {
  return startMailWorker({
    db,
    publicUrl,
    secretKey,
    now,
    mailer: createMailer(settings),
    onFault: (error) => log.error({ err: error }, 'the mail worker met a fault'),
    onGivenUp: (mail) => log.warn(mail, 'a mail was given up'),
  });
}

/** Prunes one batch after the other, until a batch finds nothing. */
function startPruning(
  pruneBatch: (now: Date | null) => Promise<number>,
  channel: ChannelContext,
  onFault: (error: unknown) => void,
): RepeatedTask {
  async function prune(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && (await pruneBatch(channel.now())) > 0);
  }
  return startRepeating(prune, { everyMs: PRUNE_EVERY_MS, onFault });
}
