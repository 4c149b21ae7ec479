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
  /** How the next mails are answered. `hang` says nothing after the greeting; `talk on` never ends its answer to a recipient. */
  behave(how: Behaviour): void;
  /** Says nothing more to a client that names one of these recipients, until they are let go. Returns what lets them go. */
  hold(recipients: readonly string[]): () => void;
  /** How many clients are connected now. */
  openConnections(): number;
  stop(): Promise<void>;
};

export type Behaviour = 'accept' | 'refuse for now' | 'refuse for good' | 'hang' | 'talk on';

const RECIPIENT_ANSWERS: Record<Exclude<Behaviour, 'hang'>, string> = {
  accept: '250 ok',
  'talk on': '250-there is more',
  'refuse for now': '451 try again later',
  'refuse for good': '550 no such mailbox',
};

export async function startSmtpServer(): Promise<SmtpServer> {
  const mails: ReceivedMail[] = [];
  const sockets = new Set<Socket>();
  let behaviour: Behaviour = 'accept';
  let connections = 0;
  let held: readonly string[] = [];
  const waiting: (() => void)[] = [];
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    converse(
      socket,
      () => behaviour,
      (mail) => mails.push(mail),
      (recipient, goOn) => (held.includes(recipient) ? void waiting.push(goOn) : goOn()),
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
    hold(recipients) {
      held = recipients;
      return () => {
        held = [];
        for (const goOn of waiting.splice(0)) goOn();
      };
    },
    openConnections: () => sockets.size,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** As much of SMTP as a client needs that sends one mail. */
function converse(
  socket: Socket,
  behaviour: () => Behaviour,
  onMail: (mail: ReceivedMail) => void,
  onRecipient: (recipient: string, goOn: () => void) => void,
): void {
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
        const recipient = /<([^>]*)>/.exec(line)?.[1] ?? '';
        onRecipient(recipient, () => {
          if (how === 'accept') mail.to.push(recipient);
          say(RECIPIENT_ANSWERS[how]);
          if (how === 'talk on') talkOn(socket);
        });
        return;
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

const TALK_EVERY_MS = 5;

function talkOn(socket: Socket): void {
  const timer = setInterval(() => socket.write('250-there is more\r\n'), TALK_EVERY_MS);
  socket.on('close', () => clearInterval(timer));
}
