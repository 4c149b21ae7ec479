import { type Attack, idempotent, scaled } from './attack.ts';

export const WEBHOOK_ATTACKS: Attack[] = [
  {
    name: 'webhooks to a receiver that never answers',
    needs: 'hanging receiver',
    run: (scene) =>
      scene.client.flood({ count: scaled(scene, 550), atOnce: 20 }, () => ({
        method: 'POST',
        path: '/v1/test/webhook_ping',
        headers: idempotent(),
        body: '{}',
      })),
  },
];
