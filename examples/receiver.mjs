// A receiver of webhooks in plain Node, from version 20 on, without dependencies:
//
//   SIGNING_SECRET=whsec_… node receiver.mjs
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { SIGNING_SECRET, RECEIVER_PORT = '4100' } = process.env;
const PORT_MAX = 65_535;
const TOLERANCE_SECONDS = 300;
const BODY_LIMIT_BYTES = 5_000_000;

if (!SIGNING_SECRET) {
  console.error('Set SIGNING_SECRET to the signing secret of the integration.');
  process.exit(1);
}
if (!/^\d+$/.test(RECEIVER_PORT) || Number(RECEIVER_PORT) > PORT_MAX) {
  console.error(`Set RECEIVER_PORT to a port from 0 to ${PORT_MAX}, not "${RECEIVER_PORT}".`);
  process.exit(1);
}

/** `body` is the bytes as they came: JSON that was parsed and printed again has another signature. */
function isGenuine(header, body) {
  const fields = header.split(',').map((field) => field.trim().split('='));
  const time = fields.find(([name]) => name === 't')?.[1] ?? '';
  // An old webhook may be somebody's copy. A retry is signed anew, so it is never old.
  if (!/^\d+$/.test(time) || Math.abs(Date.now() / 1000 - Number(time)) > TOLERANCE_SECONDS) return false;
  const expected = createHmac('sha256', SIGNING_SECRET).update(`${time}.`).update(body).digest();
  // While a secret is being rotated there is a signature of the old one and one of the new: either will do.
  return fields.some(([name, hex = '']) => {
    const given = Buffer.from(hex, 'hex');
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

async function readBody(request) {
  const chunks = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > BODY_LIMIT_BYTES) throw new Error('the body is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

// An event may come more than once. A real receiver keeps the ids it has dealt with in its database.
const seen = new Set();

const server = createServer(async (request, response) => {
  try {
    const body = await readBody(request);
    if (!isGenuine(request.headers['x-svc-signature'] ?? '', body)) {
      console.log('FORGED   refused');
      response.writeHead(400).end();
      return;
    }
    const event = JSON.parse(body.toString('utf8'));
    console.log(seen.has(event.id) ? 'again   ' : 'genuine ', event.type, event.data.object.id, event.id);
    seen.add(event.id);
    // Answer within 10 seconds and do slow work afterwards: without a 2xx the event comes again later.
    response.writeHead(204).end();
  } catch (error) {
    console.log('BROKEN  ', error.message);
    response.writeHead(400).end();
  }
});

server.on('error', (error) => {
  console.error(`The port ${RECEIVER_PORT} can't be used: ${error.message}. Set RECEIVER_PORT to another one.`);
  process.exit(1);
});
server.listen(Number(RECEIVER_PORT), '127.0.0.1', () => {
  console.log(`Waiting for webhooks on http://127.0.0.1:${server.address().port}`);
});
