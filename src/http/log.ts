import { type DestinationStream, type Logger, pino } from 'pino';
import pretty from 'pino-pretty';

export type LogOptions = {
  level: string;
  /** Lines for people instead of JSON; for a terminal. */
  isPretty: boolean;
  /** Where the lines go; standard error unless a test collects them. */
  destination?: DestinationStream;
};

/**
 * Structured logs. What is logged is chosen field by field: no headers and no bodies, so no key, secret or customer
 * can slip in. The redaction below is the second line of defence, for errors that carry more than they should.
 */
export function createLog(options: LogOptions): Logger {
  const destination = options.destination ?? (options.isPretty ? prettyStream() : pino.destination(2));
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (error: unknown) => mask(pino.stdSerializers.err(error as Error)) },
      redact: { paths: ['authorization', '*.authorization', '*.password', '*.secret', '*.key'], censor: '[hidden]' },
    },
    destination,
  );
}

const SECRETS = /svc_[A-Za-z0-9]{32}|whsec_[A-Za-z0-9]{32}|:\/\/[^\s/@:]+:[^\s/@]+@/g;

/** Error texts come from libraries; one that quotes a key or a database URL must not bring it into the log. */
function mask(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(SECRETS, '[hidden]');
  if (Array.isArray(value)) return value.map(mask);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mask(inner)]));
}

function prettyStream(): DestinationStream {
  return pretty({
    colorize: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'requestId,integrationId,route',
    singleLine: true,
    destination: 2,
    sync: true,
  });
}
