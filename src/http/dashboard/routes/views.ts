import type { viewOperations } from '../../../contract/dashboard/views.ts';
import { changeView, createView, deleteView, listViews, type Viewer } from '../../../dealers/saved-views.ts';
import type { DashboardContext, Handlers, SignedIn } from '../call.ts';

export const viewHandlers: Handlers<typeof viewOperations> = {
  async listViews({ context, user, query }) {
    const viewer = viewerOf(user);
    const views = await listViews(context.db, viewer, query.list);
    return {
      data: views.map((view) => ({
        id: view.id,
        name: view.name,
        query: view.query,
        is_shared: view.isShared,
        is_mine: view.userId === user.userId,
        can_change: view.userId === user.userId || viewer.isOwner,
        saved_by: view.userName,
      })),
    };
  },

  async createView({ context, user, actor, body }) {
    const view = { list: body.list, name: body.name, query: body.query, isShared: body.is_shared };
    const id = await createView(context.db, actor, viewerOf(user), view);
    notify(context, user, id);
    return { id };
  },

  async changeView({ context, user, actor, params, body }) {
    const { name, query, is_shared: isShared } = body;
    await changeView(context.db, actor, viewerOf(user), params.view_id, {
      ...(name === undefined ? {} : { name }),
      ...(query === undefined ? {} : { query }),
      ...(isShared === undefined ? {} : { isShared }),
    });
    notify(context, user, params.view_id);
    return null;
  },

  async deleteView({ context, user, actor, params }) {
    await deleteView(context.db, actor, viewerOf(user), params.view_id);
    notify(context, user, params.view_id);
    return null;
  },
};

function viewerOf({ organizationId, userId, role }: SignedIn): Viewer {
  return { organizationId, userId, isOwner: role === 'owner' };
}

function notify(context: DashboardContext, user: SignedIn, id: string): void {
  context.dashboard.feed.notify(user.organizationId, 'view', [id]);
}
