import type { FastifyInstance } from 'fastify';

export async function docsRoutes(app: FastifyInstance, _options: { publicUrl: string }): Promise<void> {
  app.get('/docs/api', async () => 'docs');
}
