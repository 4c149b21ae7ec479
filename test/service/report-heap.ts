import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Loaded into a service by `--import`: at each SIGUSR2 it collects the young objects and prints how many bytes are left. What
 * survives two such collections is old from then on.
 */
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;

process.on('SIGUSR2', () => {
  collect({ type: 'minor' });
  collect({ type: 'minor' });
  console.log(`heap ${getHeapStatistics().used_heap_size}`);
});
