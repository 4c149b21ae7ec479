import { type Attack, idempotent, type Scene, scaled } from './attack.ts';

function pings(scene: Scene): Promise<void> {
  return scene.client.flood({ count: scaled(scene, 550), atOnce: 20 }, () => ({
    method: 'POST',
    path: '/v1/test/webhook_ping',
    headers: idempotent(),
    body: '{}',
  }));
}

export const WEBHOOK_ATTACKS: Attack[] = [
  { name: 'webhooks to a receiver that never answers', needs: 'hanging receiver', run: pings },
  { name: 'webhooks answered with very many headers', needs: 'receiver with many headers', run: pings },
  { name: 'webhooks answered in TLS records of one byte', needs: 'receiver with tiny TLS records', run: pings },
];
