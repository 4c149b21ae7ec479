import { replaceModule } from './replace-module.ts';

/** Loaded before the service: its worker then keeps attempts only while the benchmark has it on that side. */
replaceModule(
  'src/webhooks/delivery-queue/outcomes/record-deliveries.ts',
  'bench/baselines/switched-record-deliveries.ts',
);
