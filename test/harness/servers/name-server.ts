import { createSocket } from 'node:dgram';

/** A name server that knows some names, says of others that they do not exist, and is silent about the rest. */
export type NameServer = { address: string; stop(): Promise<void> };

const TYPE_A = 1;
const HEADER_BYTES = 12;
const NAME_ERROR = 3;

export async function startNameServer(known: Record<string, string[] | 'silent'>): Promise<NameServer> {
  const socket = createSocket('udp4');
  socket.on('message', (question, from) => {
    const { name, type, end } = questionOf(question);
    const found = known[name];
    if (found === 'silent') return;
    const addresses = type === TYPE_A ? (found ?? []) : [];
    const header = Buffer.from(question.subarray(0, HEADER_BYTES));
    header.writeUInt16BE(0x8180 | (found === undefined ? NAME_ERROR : 0), 2);
    header.writeUInt16BE(addresses.length, 6);
    header.writeUInt32BE(0, 8);
    const answers = addresses.map((address) =>
      // The name by reference, type A, class IN, a minute, four bytes.
      Buffer.from([0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]),
    );
    socket.send(Buffer.concat([header, question.subarray(HEADER_BYTES, end), ...answers]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

function questionOf(packet: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = packet.readUInt8(at); length > 0; length = packet.readUInt8(at)) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 };
}
