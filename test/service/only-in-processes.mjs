// Loaded with NODE_OPTIONS=--import by supervisor.test.ts: breaks a setting in the processes that answer requests, and not in the
// one that supervises them.
import cluster from 'node:cluster';

if (cluster.isWorker) process.env.READ_CACHE_MB = 'much';
