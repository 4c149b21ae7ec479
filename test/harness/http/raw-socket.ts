import { connect, type Socket } from 'node:net';

/** An HTTP response as it came over the wire. */
export type RawResponse = {
  status: number;
  headers: Record<string, string>;
  text: string;
  /** The parsed body, if it is JSON; tests read it freely. */
  // biome-ignore lint/suspicious/noExplicitAny: a test asserts on whatever the server really sent.
  body: any;
};

/** A client that says what no HTTP library would. */
export type RawSocket = {
  socket: Socket;
  write(bytes: string | Buffer): void;
  /** The next response; fails if the server closes before one is there. */
  next(options?: { isHead?: boolean }): Promise<RawResponse>;
  /** Resolves when the server has closed the connection. */
  closed: Promise<void>;
  /** Bytes that came and were not asked for by `next`. */
  rest(): string;
  close(): void;
};

/** Generous: it only keeps a test from waiting for ever. */
const PATIENCE_MS = 60_000;

export function rawSocket(port: number): RawSocket {
  const socket = connect({ host: '127.0.0.1', port });
  let received = Buffer.alloc(0);
  let isClosed = false;
  let wake: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      isClosed = true;
      resolve();
      wake();
    });
  });
  // A reset by the server shows as a close, which the tests ask about.
  socket.on('error', () => {});
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });

  async function next(options: { isHead?: boolean } = {}): Promise<RawResponse> {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const parsed = parseResponse(received, options.isHead ?? false);
      if (parsed !== null) {
        received = received.subarray(parsed.length);
        return parsed.response;
      }
      if (isClosed) throw new Error(`the server closed without a whole response: ${JSON.stringify(String(received))}`);
      if (Date.now() > deadline) throw new Error(`no response: ${JSON.stringify(String(received))}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 1_000);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  }

  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    next,
    closed,
    rest: () => received.toString('latin1'),
    close: () => void socket.destroy(),
  };
}

/** Sends bytes on a connection of their own and reads one response. */
export async function sendRaw(port: number, bytes: string | Buffer, options?: { isHead?: boolean }) {
  const client = rawSocket(port);
  client.write(bytes);
  try {
    return await client.next(options);
  } finally {
    client.close();
  }
}

function parseResponse(bytes: Buffer, isHead: boolean): { response: RawResponse; length: number } | null {
  const headEnd = bytes.indexOf('\r\n\r\n');
  if (headEnd === -1) return null;
  const [statusLine = '', ...lines] = bytes.subarray(0, headEnd).toString('latin1').split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`not a status line: ${JSON.stringify(statusLine)}`);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
  }
  const bodyStart = headEnd + 4;
  // An interim "100 Continue" has no body and is not the answer.
  if (status === 100) {
    const rest = parseResponse(bytes.subarray(bodyStart), isHead);
    return rest === null ? null : { response: rest.response, length: rest.length + bodyStart };
  }
  const bodyLength = isHead || status === 304 || status === 204 ? 0 : Number(headers['content-length'] ?? 0);
  if (bytes.length < bodyStart + bodyLength) return null;
  const text = bytes.subarray(bodyStart, bodyStart + bodyLength).toString();
  const isJson = headers['content-type']?.startsWith('application/json') ?? false;
  return {
    response: { status, headers, text, body: isJson && text !== '' ? JSON.parse(text) : null },
    length: bodyStart + bodyLength,
  };
}
