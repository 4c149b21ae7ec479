import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

/** A mail as it came over the wire. */
export type ReceivedMail = { from: string; to: string[]; data: string };

/** A mail server on a real port that records what it takes. */
export type SmtpServer = {
  url: string;
  mails: ReceivedMail[];
  /** How many clients have connected. */
  connections(): number;
  /** How the next mails are answered; `hang` says nothing at all after the greeting. */
  behave(how: Behaviour): void;
  stop(): Promise<void>;
};

export type Behaviour = 'accept' | 'refuse for now' | 'refuse for good' | 'hang';

const RECIPIENT_ANSWERS: Record<Exclude<Behaviour, 'hang'>, string> = {
  accept: '250 ok',
  'refuse for now': '451 try again later',
  'refuse for good': '550 no such mailbox',
};

export async function startSmtpServer(): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  let behaviour: Behaviour = 'accept';
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    converse(
      socket,
      () => behaviour,
      (mail) => mails.push(mail),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    connections: () => connections,
    behave(how) {
      behaviour = how;
    },
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** As much of SMTP as a client needs that sends one mail. */
function converse(socket: Socket, behaviour: () => Behaviour, onMail: (mail: ReceivedMail) => void): void {
  const say = (line: string) => socket.write(`${line}\r\n`);
  let mail: ReceivedMail = { from: '', to: [], data: '' };
  let isData = false;
  let rest = '';
  say('220 mail.example ESMTP');
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\r\n');
    rest = lines.pop() ?? '';
    for (const line of lines) answer(line);
  });

  function answer(line: string): void {
    const how = behaviour();
    if (how === 'hang') return;
    if (isData) {
      if (line !== '.') {
        mail.data += `${line}\n`;
        return;
      }
      isData = false;
      onMail(mail);
      mail = { from: '', to: [], data: '' };
      say('250 taken');
      return;
    }
    const command = line.slice(0, 4).toUpperCase();
    switch (command) {
      case 'EHLO':
      case 'HELO':
        return void say('250 mail.example');
      case 'MAIL':
        mail.from = line;
        return void say('250 ok');
      case 'RCPT': {
        if (how === 'accept') mail.to.push(/<([^>]*)>/.exec(line)?.[1] ?? '');
        return void say(RECIPIENT_ANSWERS[how]);
      }
      case 'DATA':
        isData = true;
        return void say('354 go on');
      case 'QUIT':
        say('221 bye');
        return void socket.end();
      default:
        return void say('250 ok');
    }
  }
}
