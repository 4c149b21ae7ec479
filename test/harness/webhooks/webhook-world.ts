import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '../../../src/contract/event-types.ts';
import { sql } from '../../../src/db/sql.ts';
import { outcomeNotifier } from '../../../src/live/notify-dashboards.ts';
import type { ClaimRequest } from '../../../src/webhooks/delivery-queue/claim.ts';
import { setUrl } from '../../../src/webhooks/endpoints/endpoint-settings.ts';
import { readEndpoint } from '../../../src/webhooks/endpoints/read-endpoint.ts';
import { createSecretEncryption } from '../../../src/webhooks/endpoints/secret-encryption.ts';
import { openOutbox } from '../../../src/webhooks/outbox.ts';
import { createSsrfGuard } from '../../../src/webhooks/sending/ssrf-guard.ts';
import { type DeliveryWorker, startDeliveryWorker } from '../../../src/webhooks/worker/delivery-worker.ts';
import type { Notice } from '../../../src/webhooks/worker/maintenance.ts';
import type { WorkerLimits } from '../../../src/webhooks/worker/worker-limits.ts';
import { TESTER } from '../actor.ts';
import { type Receiver, startReceiver } from '../servers/receiver.ts';
import type { Shop } from '../shop.ts';
import { type Dealer, startWorld, type World } from '../world.ts';

/** Receivers on this machine are allowed, as the development setting does. */
export const guard = createSsrfGuard(true);
export const SECRET_KEY = 'a secret key for tests, long enough to be one';
export const encryption = createSecretEncryption([SECRET_KEY]);

/** A real delivery worker on the world's database and clock. */
export type TestWorker = DeliveryWorker & {
  /** Stops and starts again, as a service does; its faults and notices are kept. */
  restart(): Promise<void>;
  /** Starts it if a test has stopped it. Before each test, so that one that failed in between leaves the next a worker. */
  ensureStarted(): void;
  /** Waits until nothing is due or on its way, at the time that the world has. */
  settled(): Promise<void>;
  /** Its faults. */
  faults: unknown[];
  /** Its notices to the operator. */
  notices: Notice[];
};

export type ConnectedReceiver = Receiver & { secret: string };

/** A world whose dealers have receivers, which stop with it. */
export type ReceivingWorld = World & {
  connect(dealer: Pick<Dealer, 'integrationId'>): Promise<ConnectedReceiver>;
  stopReceivers(): Promise<void>;
};

export async function startReceivingWorld(): Promise<ReceivingWorld> {
  const world = await startWorld();
  const receivers: Receiver[] = [];
  const stopReceivers = async () => void (await Promise.all(receivers.splice(0).map((receiver) => receiver.stop())));
  return {
    ...world,
    stopReceivers,
    async connect(dealer) {
      const receiver = await connectReceiver(world, dealer);
      receivers.push(receiver);
      return receiver;
    },
    async stop() {
      await stopReceivers();
      await world.stop();
    },
  };
}

/** A world that also sends. Its stop proves that the worker met no fault but those that a test took out of the list. */
export type WebhookWorld = ReceivingWorld & { worker: TestWorker };

export async function startWebhookWorld({
  time = null,
  limits = {},
}: {
  time?: Date | null;
  limits?: Partial<WorkerLimits>;
} = {}): Promise<WebhookWorld> {
  const world = await startReceivingWorld();
  world.setTime(time);
  const worker = startTestWorker(world, limits);
  return {
    ...world,
    worker,
    async stop() {
      // The receivers first: an attempt that hangs at one of them ends then, and the worker does not wait for its deadline.
      await world.stopReceivers();
      await worker.stop();
      await world.stop();
      assert.deepEqual(worker.faults, []);
    },
  };
}

export function startTestWorker(world: World, limits: Partial<WorkerLimits> = {}): TestWorker {
  const faults: unknown[] = [];
  const notices: Notice[] = [];
  const notifyOfEvents = world.channel.onEvents;
  let isStarted = true;
  let worker = start();

  function start(): DeliveryWorker {
    const started = startDeliveryWorker({
      db: world.db,
      encryption,
      guard,
      now: world.channel.now,
      onFault: (error) => faults.push(error),
      onNotice: (notice) => notices.push(notice),
      onRecorded: outcomeNotifier(world.db, (...change) => world.channel.notifyDashboards?.(...change)),
      limits: { pollMs: 50, maintenanceMs: 20, ...limits },
    });
    world.channel.onEvents = (integrationIds, isAnyQueued = true) => {
      if (isAnyQueued) started.wake();
      notifyOfEvents(integrationIds);
    };
    world.channel.claimAtCommit = started.claimAtCommit;
    return started;
  }

  return {
    wake: () => worker.wake(),
    claimAtCommit: () => worker.claimAtCommit(),
    async stop() {
      isStarted = false;
      await worker.stop();
    },
    async restart() {
      await worker.stop();
      worker = start();
      isStarted = true;
    },
    ensureStarted() {
      if (!isStarted) worker = start();
      isStarted = true;
    },
    faults,
    notices,
    async settled() {
      worker.wake();
      for (let round = 0; round < 3_000; round++) {
        const [row] = await world.db.query<{ waiting: number }>(sql`
          select count(*) as waiting from deliveries d join webhook_endpoint_states r on r.integration_id = d.integration_id
          where d.status in ('pending', 'failed')
            and (d.lease_token is not null or not r.is_sending
              or d.due_at <= coalesce(${world.channel.now()}::timestamptz, clock_timestamp()))
            or d.status = 'held' and r.is_sending`);
        if (row?.waiting === 0) return;
        await sleep(10);
      }
      throw new Error('some deliveries stay due');
    },
  };
}

/** A receiver for a dealer's webhooks, and the secret that signs them. */
export async function connectReceiver(
  world: World,
  { integrationId }: Pick<Dealer, 'integrationId'>,
): Promise<ConnectedReceiver> {
  const receiver = await startReceiver();
  const made = await setUrl(world.db, TESTER, { guard, encryption }, integrationId, receiver.url);
  return Object.assign(receiver, { secret: made?.secret ?? '' });
}

export type DeliveryRow = {
  id: string;
  event_id: string;
  status: string;
  attempts: number;
  due_at: Date | null;
  finished_at: Date | null;
  last_attempt_at: Date | null;
  last_response_code: number | null;
  last_response_body: string | null;
  last_error: string | null;
};

/** The deliveries of an integration, oldest first. */
export async function deliveriesOf(world: World, { integrationId }: Pick<Dealer, 'integrationId'>) {
  return await world.db.query<DeliveryRow>(sql`
    select id, event_id, status, attempts, due_at, finished_at, last_attempt_at, last_response_code, last_response_body,
      last_error
    from deliveries where integration_id = ${integrationId} order by id`);
}

export async function deliveryOf(world: World, dealer: Pick<Dealer, 'integrationId'>): Promise<DeliveryRow> {
  const [row] = (await deliveriesOf(world, dealer)).slice(-1);
  if (row === undefined) throw new Error('there is no delivery');
  return row;
}

/** Fires a test event and returns the id of its delivery. */
export async function ping(shop: Pick<Shop, 'post'>): Promise<string> {
  const { body } = await shop.post('/v1/test/webhook_ping');
  return body.delivery_id;
}

/** Deliveries in any number, without the stock that would cause them; they are of one commit and of one moment. */
export async function queueEvents(
  world: Pick<World, 'db'> & { channel: Pick<World['channel'], 'now' | 'onEvents'> },
  { integrationId }: Pick<Dealer, 'integrationId'>,
  count: number,
  { type = 'listing.updated', createdAt }: { type?: EventType; createdAt?: Date } = {},
): Promise<string[]> {
  const endpoint = await readEndpoint(world.db, integrationId);
  if (endpoint === null) throw new Error(`there is no integration ${integrationId}`);
  const outbox = openOutbox();
  const recorded = Array.from({ length: count }, () =>
    outbox.add(
      { ...endpoint, isTestMode: false, subscriptions: ['*'] },
      {
        type,
        object: { id: 'lst_01h455vb4pex5vsknk084sn02q', object: 'listing' },
        previous: {},
        createdAt: createdAt ?? world.channel.now() ?? new Date(),
        isSuppressed: false,
      },
    ),
  );
  await world.db.transaction(async (tx) => outbox.write(tx));
  world.channel.onEvents([integrationId]);
  return recorded.map(({ deliveryId }) => deliveryId ?? '');
}

/** A claim that takes all that is due; a test changes what it is about. */
export function claimRequest(changes: Partial<ClaimRequest> = {}): ClaimRequest {
  return {
    maxDeliveries: 100,
    maxBytes: 64_000_000,
    inFlight: new Map(),
    slotsPerEndpoint: 64,
    inFlightByDealer: new Map(),
    slotsPerDealer: 1_000,
    bytesByDealer: new Map(),
    bytesPerDealer: 64_000_000,
    allSlotsPerEndpoint: 64,
    endedHere: new Map(),
    isAlone: true,
    pausedEndpoints: [],
    pausedDealers: [],
    afterEndpoint: '',
    leaseToken: Math.ceil(Math.random() * 1e12),
    leaseMs: 20_000,
    now: null,
    ...changes,
  };
}
