import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';

/** A receiver that speaks in raw bytes, to misbehave in ways that an HTTP server would not. */
export type HostileReceiver = {
  url: string;
  port: number;
  /** Connections that were made, and how many of them sent anything. */
  connections: number;
  requests: number;
  /** Bytes that the other side has taken. */
  sentBytes(): number;
  open(): number;
  stop(): Promise<void>;
};

/** What it does once a request has come; the answer's bytes are its own affair. */
export type Behaviour = (socket: Socket) => void;

export async function startHostile(behaviour: Behaviour): Promise<HostileReceiver> {
  const sockets = new Set<Socket>();
  let sent = 0;
  const server: Server = createServer((socket) => {
    receiver.connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      sent += socket.bytesWritten;
    });
    let hasRequest = false;
    socket.on('data', () => {
      if (hasRequest) return;
      hasRequest = true;
      receiver.requests += 1;
      behaviour(socket);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: HostileReceiver = {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    connections: 0,
    requests: 0,
    sentBytes: () => sent,
    open: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** Writes the same bytes again and again, as fast as they are taken, or one at a time with pauses. */
export function keepWriting(socket: Socket, bytes: Buffer | string, pauseMs = 0): void {
  if (socket.destroyed) return;
  const next = () => keepWriting(socket, bytes, pauseMs);
  const isTaken = socket.write(bytes);
  if (pauseMs > 0) setTimeout(next, pauseMs);
  else if (isTaken) setImmediate(next);
  else socket.once('drain', next);
}
