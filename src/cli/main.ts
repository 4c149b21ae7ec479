import { text } from 'node:stream/consumers';
import { keepCompiledCode } from '../service/compile-cache.ts';

/** The operator's command line: npm run -s crownwheel -- --help */
keepCompiledCode();
const { readConfig } = await import('../config.ts');
const { endProcess } = await import('../service/shutdown/end-process.ts');
const { listenForStop } = await import('../service/shutdown/shutdown-signals.ts');
const { runCommandLine } = await import('./command-line.ts');
const { standardOutput } = await import('./standard-output.ts');
const output = standardOutput(process.stdout);
process.exitCode = await runCommandLine(process.argv.slice(2), {
  readSettings: readConfig,
  writeOut: output.write,
  written: output.written,
  writeErr: (line) => process.stderr.write(line),
  readInput: () => text(process.stdin),
  stop: listenForStop().stop,
});
await endProcess();
