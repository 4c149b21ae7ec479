import { text } from 'node:stream/consumers';
import { readConfig } from '../config.ts';
import { listenForStop } from '../service/shutdown/shutdown-signals.ts';
import { runCommandLine } from './command-line.ts';

/** The operator's command line: npm run -s crownwheel -- --help */
process.exitCode = await runCommandLine(process.argv.slice(2), {
  readSettings: readConfig,
  writeOut: (line) => process.stdout.write(line),
  writeErr: (line) => process.stderr.write(line),
  readInput: () => text(process.stdin),
  stop: listenForStop().stop,
});
process.exit();
