import { createServer } from 'node:http';

/**
 * Receives webhooks, answers 200 and remembers when each came. GET /arrivals returns and clears them; GET /count returns how many.
 *
 * Runs as a process of its own: node bench/load/sink.ts <port>.
 */
export type Arrivals = { ids: string[]; times: number[] };

const [port = '0'] = process.argv.slice(2);
let arrivals: Arrivals = { ids: [], times: [] };

createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(request.url === '/count' ? String(arrivals.ids.length) : JSON.stringify(arrivals));
    if (request.url === '/arrivals') arrivals = { ids: [], times: [] };
    return;
  }
  request.resume();
  request.on('end', () => {
    arrivals.ids.push(String(request.headers['x-svc-event-id']));
    arrivals.times.push(performance.timeOrigin + performance.now());
    response.writeHead(200, { 'Content-Length': 2 }).end('ok');
  });
}).listen(Number(port), '127.0.0.1', () => console.log('listening'));
