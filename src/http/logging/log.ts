import { createRequire } from 'node:module';
import { type DestinationStream, type Logger, pino } from 'pino';

export type LogOptions = {
  level: string;
  /** Whether to write lines for people instead of JSON, for a terminal. */
  isPretty: boolean;
  /** True of a fault that has its line elsewhere: a line with it is not written, unless it is that of a request. */
  hides?: (fault: unknown) => boolean;
  /** Where the lines are written: standard error, unless a test collects them. */
  destination?: DestinationStream;
};

/**
 * Structured logs. What is logged is chosen field by field: no headers and no bodies, so no key, secret or customer can
 * slip in. Redacting secrets in each line is the second line of defence: for a key in a path, for an error that quotes
 * a URL.
 */
export function createLog(options: LogOptions): Logger {
  const destination = options.destination ?? (options.isPretty ? prettyStream() : pino.destination(2));
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
      hooks: {
        streamWrite: maskSecrets,
        ...(options.hides === undefined ? {} : { logMethod: unlessHidden(options.hides) }),
      },
    },
    destination,
  );
}

type LogMethod = NonNullable<NonNullable<pino.LoggerOptions['hooks']>['logMethod']>;

function unlessHidden(hides: (fault: unknown) => boolean): LogMethod {
  return function log(args, method) {
    const fields: unknown = args[0];
    const isHidden =
      typeof fields === 'object' && fields !== null && 'err' in fields && !('requestId' in fields) && hides(fields.err);
    if (!isHidden) method.apply(this, args);
  };
}

/** API keys, signing secrets and the passwords of database URLs, also as an escaped path or a query spells them. */
const SECRETS = /(?:svc|whsec)(?:_|%5f)[a-z0-9]{8,}|:\/\/[^\s/@:"]*:[^\s/@"]+@|password=[^\s&"]+|Bearer [^\s"\\]+/gi;

function maskSecrets(line: string): string {
  return line.replace(SECRETS, '[hidden]');
}

const CAUSES_LIMIT = 5;

/** The fields of an error that say what happened. PostgreSQL's `detail` is not one of them: it quotes the row. */
function describeError(error: unknown, depth = 1): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, table, constraint } = error as Error & { code?: string; table?: string; constraint?: string };
  // Connecting to a name with several addresses fails with one error for each, and no message of its own.
  const parts: unknown[] = error instanceof AggregateError ? error.errors : [];
  const inner = [error.cause, ...parts].filter((one) => one !== undefined).slice(0, CAUSES_LIMIT);
  return {
    type: error.name,
    message: error.message,
    code,
    table,
    constraint,
    stack: error.stack,
    ...(inner.length === 0 || depth === CAUSES_LIMIT
      ? {}
      : { causes: inner.map((one) => describeError(one, depth + 1)) }),
  };
}

function prettyStream(): DestinationStream {
  // Only a terminal needs it, and loading it takes as long as loading the logger itself.
  const pretty: typeof import('pino-pretty') = createRequire(import.meta.url)('pino-pretty');
  return pretty({
    colorize: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'requestId,integrationId,route',
    singleLine: true,
    destination: 2,
    sync: true,
  });
}
