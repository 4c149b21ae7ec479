import assert from 'node:assert/strict';
import { runCommandLine } from '../../src/cli/command-line.ts';
import { type Config, readConfig } from '../../src/config.ts';
import type { World } from './world.ts';

export type Ended = { code: number; out: string; err: string };

/** The operator's command line, run in the test's own process. */
export type CommandLine = {
  run(...args: string[]): Promise<Ended>;
  runWithInput(input: string, ...args: string[]): Promise<Ended>;
  /** The JSON document that a command prints when all goes well. */
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on whatever was really printed.
  json(...args: string[]): Promise<any>;
  /** The one line of complaint, which must be the same as JSON. */
  refusal(...args: string[]): Promise<string>;
};

/** Settings that lead to a world's database, as a service beside it would have them. */
export function settingsFor(world: World, environment: Record<string, string> = {}): Config {
  const { socketDir, user, database } = world.database.address as Record<string, string>;
  return readConfig({
    DATABASE_URL: `postgresql:///${database}?host=${encodeURIComponent(socketDir ?? '')}&user=${user}`,
    SECRET_KEYS: 'a-secret-key-of-at-least-thirty-two-characters',
    PUBLIC_URL: world.channel.publicUrl,
    PORT: String(world.port),
    ...environment,
  });
}

/** The settings are asked for at every command: a test may change them, and makes its world after this. */
export function commandLine(readSettings: () => Config): CommandLine {
  async function runWithInput(input: string, ...args: string[]): Promise<Ended> {
    let [out, err] = ['', ''];
    const code = await runCommandLine(args, {
      readSettings,
      writeOut: (text) => {
        out += text;
      },
      written: async () => {},
      writeErr: (text) => {
        err += text;
      },
      readInput: async () => input,
      stop: new AbortController().signal,
    });
    return { code, out, err };
  }
  const run = (...args: string[]) => runWithInput('', ...args);
  return {
    run,
    runWithInput,
    async json(...args) {
      const { code, out, err } = await run(...args, '--json');
      assert.deepEqual([code, err], [0, ''], args.join(' '));
      return JSON.parse(out);
    },
    async refusal(...args) {
      const plain = await run(...args);
      const asJson = await run(...args, '--json');
      for (const { code, out, err } of [plain, asJson]) {
        assert.deepEqual([code, out], [1, ''], args.join(' '));
        assert.match(err, /^[^\n]+\n$/, args.join(' '));
      }
      assert.match(plain.err, /^crownwheel: /);
      const message = plain.err.trim().replace(/^crownwheel: /, '');
      assert.deepEqual(JSON.parse(asJson.err), { error: message });
      return message;
    },
  };
}
