/**
 * Checks webhook signatures as a receiver would who has nothing but the documentation: the header is
 * `t=<unix seconds>,v1=<hex>[,v1=<hex>…]`, each v1 being HMAC-SHA256 with a signing secret over `<t>.<raw body>`. It shares
 * no code with the sender.
 */
export type SignedRequest = { signature: string; rawBody: Uint8Array };

const TOLERANCE_SECONDS = 300;
const HEADER = /^t=(?<time>[0-9]{1,12})(?<signatures>(?:,v1=[0-9a-f]{64})+)$/;

/** Whether a receiver accepts it: fresh, and signed with the secret that it knows. */
export async function isAccepted(request: SignedRequest, secret: string, nowSeconds: number): Promise<boolean> {
  const { time } = parsed(request.signature);
  if (Math.abs(nowSeconds - time) > TOLERANCE_SECONDS) return false;
  return (await signersAmong(request, [secret])).signers.length > 0;
}

/** Which of these secrets have signed, and how many signatures none of them has made. */
export async function signersAmong(
  request: SignedRequest,
  secrets: string[],
): Promise<{ signers: string[]; strangers: number }> {
  const { time, signatures } = parsed(request.signature);
  const content = Buffer.concat([Buffer.from(`${time}.`), request.rawBody]);
  const signers: string[] = [];
  for (const secret of secrets) {
    const key = await crypto.subtle.importKey(
      'raw',
      new TextEncoder().encode(secret),
      { name: 'HMAC', hash: 'SHA-256' },
      false,
      ['verify'],
    );
    for (const signature of signatures) {
      // Compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, Buffer.from(signature, 'hex'), content)) signers.push(secret);
    }
  }
  return { signers, strangers: signatures.length - signers.length };
}

export function signedAt(signature: string): number {
  return parsed(signature).time;
}

function parsed(header: string): { time: number; signatures: string[] } {
  const { time, signatures } = HEADER.exec(header)?.groups ?? {};
  if (time === undefined || signatures === undefined) throw new Error(`not a signature header: ${header}`);
  return { time: Number(time), signatures: signatures.split(',v1=').slice(1) };
}
