import { Agent, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';

/** A client that does what no honest one does, bounded in time and number. */
export type Client = {
  /** Sends one request; resolves with the status, or 0 if there was none. */
  send(request: AttackRequest): Promise<number>;
  /** Sends requests made from their number, so many at once, until the count is reached or the attack's time is up. */
  flood(limits: { count: number; atOnce: number }, make: (index: number) => AttackRequest): Promise<void>;
  /** Opens a plain socket, from another address if one is given by its number. It is closed with the attack. */
  open(address?: number): Socket;
  /** Resolves when the attack's time is up. */
  timeIsUp(): Promise<void>;
  signal: AbortSignal;
  /** How many answers came with each status. */
  statuses: Map<number, number>;
  /** What an answer took and had, on average. */
  answers(): MeanAnswer;
  end(): void;
};

export type MeanAnswer = { delayMs: number; bytes: number };

export type AttackRequest = {
  method?: string;
  /** Under /api unless it begins with another folder, such as /photos. */
  path: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
  /** Without the attacker's key. */
  isAnonymous?: boolean;
  /** Goes away so long after the request was sent. */
  abortAfterMs?: number;
};

const REQUEST_LIMIT_MS = 30_000;
/** Some limits count by address, and the neighbour has another one. Only Linux has more than one on loopback. */
const ATTACKER_ADDRESS = process.platform === 'linux' ? '127.0.0.2' : undefined;

export function createClient(origin: URL, key: string, signal: AbortSignal): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });
  const target: { host: string; port: number; localAddress?: string } = {
    host: origin.hostname,
    port: Number(origin.port),
    ...(origin.hostname === '127.0.0.1' && ATTACKER_ADDRESS !== undefined ? { localAddress: ATTACKER_ADDRESS } : {}),
  };
  const sockets = new Set<Socket>();
  const statuses = new Map<number, number>();
  const sum = { answers: 0, delayMs: 0, bytes: 0 };
  const count = (status: number) => statuses.set(status, (statuses.get(status) ?? 0) + 1);

  function send({
    method = 'GET',
    path,
    headers = {},
    body,
    isAnonymous,
    abortAfterMs,
  }: AttackRequest): Promise<number> {
    return new Promise((resolve) => {
      const sentAt = performance.now();
      let isAnswered = false;
      const end = (status: number) => {
        // A connection may be cut after its answer, while the body is still being sent.
        if (isAnswered) return;
        isAnswered = true;
        count(status);
        sum.answers += 1;
        sum.delayMs += performance.now() - sentAt;
        resolve(status);
      };
      const request = httpRequest({
        agent,
        ...target,
        method,
        path: path.startsWith('/v1') ? `/api${path}` : path,
        headers: {
          ...(isAnonymous ? {} : { authorization: `Bearer ${key}` }),
          ...(body === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
          ...headers,
        },
        signal: AbortSignal.any([signal, AbortSignal.timeout(abortAfterMs ?? REQUEST_LIMIT_MS)]),
      });
      request.once('response', (response) => {
        response.on('data', (chunk: Buffer) => {
          sum.bytes += chunk.length;
        });
        response.once('close', () => end(response.statusCode ?? 0));
      });
      request.once('error', () => end(0));
      request.end(body);
    });
  }

  return {
    send,
    async flood({ count: total, atOnce }, make) {
      let next = 0;
      const work = async () => {
        while (next < total && !signal.aborted) {
          next += 1;
          await send(make(next));
        }
      };
      await Promise.all(Array.from({ length: Math.min(atOnce, total) }, work));
    },
    open(address) {
      const isElsewhere = address !== undefined && target.localAddress !== undefined;
      const socket = connect(isElsewhere ? { ...target, localAddress: `127.0.3.${address}` } : target);
      socket.on('error', () => {});
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    },
    async timeIsUp() {
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    },
    signal,
    statuses,
    answers() {
      const divisor = Math.max(1, sum.answers);
      return { delayMs: sum.delayMs / divisor, bytes: Math.round(sum.bytes / divisor) };
    },
    end() {
      for (const socket of sockets) socket.destroy();
      agent.destroy();
    },
  };
}
