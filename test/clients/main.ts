import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { openapiDocument } from '../../src/contract/openapi/openapi.ts';
import { HEY_API_USAGE, OPENAPI_TYPESCRIPT_USAGE, PYTHON_USAGE } from './usages.ts';

/**
 * Generates clients from the OpenAPI description as an integrator would, compiles them, and feeds them an event type and a
 * status that they have never seen. The generators are installed into a temporary folder from the network, so this is no
 * part of `npm test`: run it with `npm run clients` after a change of the description.
 */
const PACKAGES = [
  'openapi-typescript@7.13.0',
  '@hey-api/openapi-ts@0.95.0',
  '@stoplight/spectral-cli@6.16.3',
  'typescript@5.9.3',
];
const PYTHON_PACKAGES = ['openapi-python-client==0.29.1'];
const STEP_LIMIT_MS = 300_000;

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'crownwheel-clients-'));
const results: [string, string][] = [];

async function sh(command: string, args: string[]): Promise<string> {
  const { stdout } = await run(command, args, { cwd: folder, timeout: STEP_LIMIT_MS, maxBuffer: 100_000_000 });
  return stdout;
}
const tool = (name: string) => join(folder, 'node_modules/.bin', name);

async function step(name: string, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    results.push([name, 'ok']);
    return true;
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    results.push([name, `FAILED: ${[message, stdout, stderr].join('\n').slice(0, 3_000)}`]);
    process.exitCode = 1;
    return false;
  }
}

const STRICT = ['--strict', '--skipLibCheck', '--target', 'es2022', '--lib', 'es2023,dom,dom.iterable'];

try {
  await writeFile(join(folder, 'openapi.json'), JSON.stringify(openapiDocument('https://api.example.com')));
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  await writeFile(join(folder, 'spectral.yaml'), 'extends: ["spectral:oas"]\n');
  await sh('npm', ['install', '--no-audit', '--no-fund', '--silent', ...PACKAGES]);

  await step('Spectral finds nothing, not even a hint', () =>
    sh(tool('spectral'), ['lint', 'openapi.json', '--ruleset', 'spectral.yaml', '--fail-severity', 'hint']),
  );
  await step('openapi-typescript: generates, compiles, narrows events by type', async () => {
    await sh(tool('openapi-typescript'), ['openapi.json', '-o', 'schema.ts']);
    await writeFile(join(folder, 'usage.ts'), OPENAPI_TYPESCRIPT_USAGE);
    await sh(tool('tsc'), [...STRICT, '--noEmit', 'usage.ts']);
  });
  await step('@hey-api/openapi-ts: generates, compiles, takes an unseen event type and status', async () => {
    await mkdir(join(folder, 'hey'));
    await sh(tool('openapi-ts'), ['-i', 'openapi.json', '-o', 'hey/client']);
    await writeFile(join(folder, 'hey/usage.ts'), HEY_API_USAGE);
    await sh(tool('tsc'), [...STRICT, '--module', 'commonjs', '--outDir', 'hey-out', 'hey/usage.ts']);
    await sh(process.execPath, ['hey-out/usage.js']);
  });
  await python();
} finally {
  for (const [name, result] of results)
    console.log(`${result === 'ok' ? '✔' : '✖'} ${name}${result === 'ok' ? '' : `\n  ${result}`}`);
  await rm(folder, { recursive: true, force: true });
}

async function python(): Promise<void> {
  try {
    await sh('python3', ['-m', 'venv', 'venv']);
  } catch {
    results.push(['openapi-python-client', 'not run: there is no Python with venv on this machine']);
    return;
  }
  await step('openapi-python-client: generates, takes an unseen event type and status', async () => {
    await sh('venv/bin/pip', ['install', '--quiet', ...PYTHON_PACKAGES]);
    await sh('venv/bin/openapi-python-client', [
      'generate',
      '--path',
      'openapi.json',
      '--output-path',
      'client',
      '--meta',
      'none',
    ]);
    await writeFile(join(folder, 'usage.py'), PYTHON_USAGE);
    await sh('venv/bin/python', ['-m', 'compileall', '-q', 'client']);
    await sh('venv/bin/python', ['usage.py']);
  });
}
