import { replaceModule } from './replace-module.ts';

/** Loaded before the service: its worker then records only how each delivery ended, and keeps no attempts. */
replaceModule(
  'src/webhooks/delivery-queue/outcomes/record-deliveries.ts',
  'bench/baselines/record-deliveries-alone.ts',
);
