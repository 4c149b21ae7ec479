import { join } from 'node:path';
import type { Config } from '../../config.ts';
import type { Demo } from '../../demo/prepare-demo.ts';
import { signsOfExposure } from './network-exposure.ts';

/** What the terminal shows when the service is up: where to go and what to try. */
export function welcome(config: Config, demo: Demo | null, tookMs: number): string {
  // Where others reach the service, its output is likely kept and read by others, too: secrets are shown only once.
  const shown = demo !== null && (demo.isNew || signsOfExposure(config).length === 0) ? demo : null;
  const hasApi = config.roles.includes('api');
  const lines = ['', `Crownwheel is up (${(tookMs / 1000).toFixed(1)} s).`, ''];
  if (config.roles.includes('dashboard')) lines.push(`  Dashboard  ${config.publicUrl}`);
  if (hasApi) lines.push(`  API        ${config.publicUrl}/api/v1`);
  lines.push(`  Docs       ${config.publicUrl}/docs/api`);
  if (hasApi) lines.push(`  OpenAPI    ${config.publicUrl}/api/v1/openapi.json`);
  lines.push(
    `  Listening  ${config.host}:${config.port}`,
    `  Database   ${config.databaseUrl === null ? `embedded, in ${config.dataDir}` : 'DATABASE_URL'}`,
    `  Roles      ${config.roles.join(', ')}`,
  );
  if (config.processes > 1) lines.push(`  Processes  ${config.processes}, and one that supervises them`);
  if (shown !== null) lines.push('', ...demoLines(shown));
  else if (demo !== null) lines.push('', ...hiddenDemoLines(config));
  if (hasApi) lines.push('', 'Try:', `  ${tryLine(config, shown)}`);
  lines.push('', 'Operate:  npm run -s crownwheel -- --help', 'Stop:     Ctrl-C', '');
  return lines.join('\n');
}

function demoLines(demo: Demo): string[] {
  const lines = ['Demo dealer (DEMO=off starts without):'];
  if (demo.liveKey !== null) lines.push(`  Live key   ${demo.liveKey}`);
  if (demo.testKey !== null) lines.push(`  Test key   ${demo.testKey}`);
  if (demo.password !== null) lines.push(`  Sign in    ${demo.email}   password ${demo.password}`);
  return lines;
}

function hiddenDemoLines({ databaseUrl, dataDir }: Config): string[] {
  const location =
    databaseUrl === null ? `${join(dataDir, 'demo.json')} holds its keys and password` : 'its keys were shown once';
  return [`Demo dealer: ${location}; they are not printed where others reach the service (DEMO=off starts without).`];
}

function tryLine(config: Config, demo: Demo | null): string {
  const key = demo?.liveKey ?? demo?.testKey;
  if (key === null || key === undefined) return `curl -i ${config.publicUrl}/api/v1/health`;
  return `curl -i ${config.publicUrl}/api/v1/me -H 'Authorization: Bearer ${key}'`;
}
