import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/**
 * The bare limit: a plain node:http server that sends the same bodies with the least headers, and does nothing else.
 *
 * Runs as a process of its own: node bench/baselines/bare-server.ts <port> <file of path → body>.
 */
const [port = '0', bodiesFile = ''] = process.argv.slice(2);
const bodies = new Map(
  Object.entries(JSON.parse(readFileSync(bodiesFile, 'utf8')) as Record<string, string>).map(([path, body]) => [
    path,
    Buffer.from(body),
  ]),
);

createServer((request, response) => {
  const body = bodies.get(request.url ?? '');
  if (body === undefined) {
    response.writeHead(404, { 'Content-Length': 0 }).end();
    return;
  }
  response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': body.length });
  response.end(body);
}).listen(Number(port), '127.0.0.1', () => console.log('listening'));
