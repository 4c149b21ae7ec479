import { COMMAND_LINE } from '../../src/audit/actor.ts';
import type { ChannelContext } from '../../src/channel/context.ts';
import { createIntegration } from '../../src/dealers/integrations/integrations.ts';
import { createOrganization } from '../../src/dealers/organizations.ts';
import { createUser } from '../../src/dealers/users/users.ts';

/** A dealer with one integration, and a person of it who is signed in. */
export type BenchDealer = {
  organizationId: string;
  integrationId: string;
  context: ChannelContext;
  /** Asks the dashboard as a browser does; throws unless it succeeds. */
  ask(method: string, path: string, body?: unknown): Promise<string>;
};

const PASSWORD = 'a long bench password';

export async function openDealer(port: number, context: ChannelContext, name: string): Promise<BenchDealer> {
  const { id: organizationId } = await createOrganization(context.db, COMMAND_LINE, { name, hasPlan: true });
  const { id: integrationId } = await createIntegration(context.db, COMMAND_LINE, {
    organizationId,
    userId: null,
    name: 'Bench',
    currency: 'USD',
    isTestMode: false,
  });
  const email = `${name}@dealer.example`;
  const user = { organizationId, name, email, password: PASSWORD, role: 'owner' as const };
  await createUser(context.db, COMMAND_LINE, user);
  let cookie = '';
  const send = async (method: string, path: string, body?: unknown) =>
    await fetch(`http://127.0.0.1:${port}/api/dashboard${path}`, {
      method,
      headers: { origin: `http://localhost:${port}`, cookie, ...typeOf(body) },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  const answer = await send('POST', '/session', { email, password: PASSWORD });
  cookie = answer.headers
    .getSetCookie()
    .map((line) => line.split(';')[0])
    .join('; ');
  return {
    organizationId,
    integrationId,
    context,
    async ask(method, path, body) {
      const response = await send(method, path, body);
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
      return text;
    },
  };
}

/** A text is a file that is uploaded. */
function typeOf(body: unknown): Record<string, string> {
  if (body === undefined) return {};
  return { 'content-type': typeof body === 'string' ? 'application/octet-stream' : 'application/json' };
}
