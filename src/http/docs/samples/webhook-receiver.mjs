import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const { SIGNING_SECRET, PORT = '5000' } = process.env;
const TOLERANCE_SECONDS = 300;

// Whether a request was signed with the secret, is unaltered, and was sent just now.
function isGenuine(header, rawBody) {
  const fields = header.split(',').map((field) => field.split('='));
  const time = fields.find(([name]) => name === 't')?.[1];
  const differenceSeconds = Math.abs(Date.now() / 1000 - Number(time));
  if (!(differenceSeconds <= TOLERANCE_SECONDS)) return false;

  const expected = createHmac('sha256', SIGNING_SECRET).update(`${time}.`).update(rawBody).digest();
  return fields.some(([name, hex = '']) => {
    const given = Buffer.from(hex, 'hex');
    return name === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
  });
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const rawBody = Buffer.concat(chunks);
  if (!isGenuine(request.headers['x-svc-signature'] ?? '', rawBody)) {
    response.writeHead(400).end();
    return;
  }
  const event = JSON.parse(rawBody);
  // Here: store the event, unless one with its id is stored. Work on it later.
  console.log(event.id, event.type);
  response.writeHead(204).end();
});

server.listen(PORT, () => console.log('Listening on port', server.address().port));
