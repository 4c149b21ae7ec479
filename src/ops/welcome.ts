import type { Config } from '../config.ts';
import type { Demo } from './demo.ts';

/** What the terminal shows when the service is up: where to go and what to try. */
export function welcome(config: Config, demo: Demo | null, tookMs: number): string {
  const lines = [
    '',
    `Crownwheel is up (${(tookMs / 1000).toFixed(1)} s).`,
    '',
    `  API        ${config.publicUrl}/api/v1`,
    `  Docs       ${config.publicUrl}/docs/api`,
    `  OpenAPI    ${config.publicUrl}/api/v1/openapi.json`,
    `  Database   ${config.databaseUrl === null ? `embedded, in ${config.dataDir}` : 'DATABASE_URL'}`,
    `  Roles      ${config.roles.join(', ')}`,
  ];
  if (demo !== null) {
    lines.push(
      '',
      'Demo data was made. Keys are shown this once:',
      `  Live key   ${demo.liveKey}`,
      `  Test key   ${demo.testKey}`,
      `  User       ${demo.email}   password ${demo.password}`,
      '',
      'Try:',
      `  curl -i ${config.publicUrl}/api/v1/me -H 'Authorization: Bearer ${demo.liveKey}'`,
    );
  } else {
    lines.push(
      '',
      'Try:',
      `  curl -i ${config.publicUrl}/api/v1/health`,
      "  npm run -s crownwheel -- --help      (a lost key: 'integration regenerate-key')",
    );
  }
  lines.push('', 'Stop with Ctrl-C.', '');
  return lines.join('\n');
}
