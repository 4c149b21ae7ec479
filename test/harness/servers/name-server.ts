import { createSocket } from 'node:dgram';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * A name server that knows some names, says of others that they do not exist, and is silent about the rest. What is too long for
 * a datagram is answered over TCP.
 */
export type NameServer = {
  address: string;
  /** The names that were asked for, once for each question. */
  asked: string[];
  stop(): Promise<void>;
};

/** The addresses of a name; or the length of the chain of aliases (CNAME) that leads to one. */
type Known = string[] | { aliases: number } | 'silent';
type Question = { name: string; type: number; end: number };

const TYPE_A = 1;
const TYPE_CNAME = 5;
const TYPE_AAAA = 28;
const HEADER_BYTES = 12;
const DATAGRAM_BYTES = 512;
const NO_ERROR = 0x8180;
const NAME_ERROR = 3;
const TRUNCATED = 0x200;

export async function startNameServer(known: Record<string, Known>): Promise<NameServer> {
  const asked: string[] = [];
  const longAnswers = new Map<string, Buffer[]>();

  function recordsOf({ name, type }: Question, found: Exclude<Known, 'silent'>): Buffer[] {
    const key = `${name} ${type}`;
    const records = longAnswers.get(key) ?? ('aliases' in found ? chain(found.aliases) : addressRecords(found, type));
    longAnswers.set(key, records);
    return records;
  }

  function answerTo(packet: Buffer, limitBytes: number): Buffer | null {
    const question = questionOf(packet);
    asked.push(question.name);
    const found = known[question.name];
    if (found === 'silent') return null;
    const records = found === undefined ? [] : recordsOf(question, found);
    const whole = message(packet, question, found === undefined ? NO_ERROR | NAME_ERROR : NO_ERROR, records);
    return whole.length <= limitBytes ? whole : message(packet, question, NO_ERROR | TRUNCATED, []);
  }

  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    let received: Buffer = Buffer.alloc(0);
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const end = 2 + received.readUInt16BE(0);
        const answer = answerTo(received.subarray(2, end), 65_535);
        received = received.subarray(end);
        if (answer !== null) socket.write(Buffer.concat([numbers(answer.length), answer]));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const datagrams = createSocket('udp4');
  datagrams.on('message', (packet, from) => {
    const answer = answerTo(packet, DATAGRAM_BYTES);
    if (answer !== null) datagrams.send(answer, from.port, from.address);
  });
  await new Promise<void>((resolve) => datagrams.bind(port, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${port}`,
    asked,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      await new Promise<void>((resolve) => datagrams.close(resolve));
    },
  };
}

function message(packet: Buffer, { end }: Question, flags: number, records: Buffer[]): Buffer {
  const header = Buffer.concat([packet.subarray(0, 2), numbers(flags, 1, records.length, 0, 0)]);
  return Buffer.concat([header, packet.subarray(HEADER_BYTES, end), ...records]);
}

/** The name of the question, by reference. */
const ASKED_NAME = Buffer.from([0xc0, HEADER_BYTES]);

function addressRecords(addresses: string[], type: number): Buffer[] {
  const family = type === TYPE_A ? 'ipv4' : type === TYPE_AAAA ? 'ipv6' : null;
  return addresses
    .map((address) => ipaddr.parse(address))
    .filter((address) => address.kind() === family)
    .map((address) => record(ASKED_NAME, type, Buffer.from(address.toByteArray())));
}

function chain(length: number): Buffer[] {
  const aliasOf = (index: number) => Buffer.concat([Buffer.from([4]), Buffer.from(String(1_000 + index)), ASKED_NAME]);
  const names = [ASKED_NAME, ...Array.from({ length }, (_, index) => aliasOf(index))];
  const aliases = names.slice(1).map((alias, index) => record(names[index] ?? alias, TYPE_CNAME, alias));
  return [...aliases, record(names.at(-1) ?? ASKED_NAME, TYPE_A, Buffer.from([93, 184, 216, 34]))];
}

/** Of the class IN, for a minute. */
function record(name: Buffer, type: number, data: Buffer): Buffer {
  return Buffer.concat([name, numbers(type, 1, 0, 60, data.length), data]);
}

/** In two bytes each. */
function numbers(...values: number[]): Buffer {
  return Buffer.from(values.flatMap((value) => [value >> 8, value & 255]));
}

function questionOf(packet: Buffer): Question {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = packet.readUInt8(at); length > 0; length = packet.readUInt8(at)) {
    labels.push(packet.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: packet.readUInt16BE(at + 1), end: at + 5 };
}
