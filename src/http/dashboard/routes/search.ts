import type { searchOperations } from '../../../contract/dashboard/search.ts';
import type { Handlers } from '../call.ts';
import { findAnything } from '../finders.ts';
import { photoUrl } from '../presenters/photo-urls.ts';

export const searchHandlers: Handlers<typeof searchOperations> = {
  async search({ context, user, query }) {
    const found = await findAnything(context.db, user.organizationId, query.q);
    return {
      data: found.map(({ kind, id, title, detail, photoId = null }) => ({
        kind,
        id,
        title,
        detail,
        photo_url: photoUrl(context.publicUrl, photoId, 'small'),
      })),
    };
  },
};
