import type { Actor } from '../audit/actor.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { VIEWS_LIMIT } from '../contract/dashboard/limits.ts';
import { DomainError } from '../contract/domain-error.ts';
import {
  type Database,
  inTransaction,
  type Queryable,
  sqlState,
  type Transaction,
  UNIQUE_VIOLATION,
} from '../db/database.ts';
import { sql } from '../db/sql.ts';
import { clockTime } from '../db/sql-time.ts';
import { newId } from '../ids/new-id.ts';
import { checkedName } from './input-rules.ts';
import { assertBelowLimit } from './row-limit.ts';

/** A view of a list that somebody saved. Others of the team see it only if it is shared. */
export type SavedView = {
  id: string;
  list: string;
  name: string;
  /** The query of the list's address, without a leading question mark. */
  query: string;
  isShared: boolean;
  /** Null when whoever saved it has left the team. */
  userId: string | null;
  userName: string | null;
};

/** The person who asks for views. Owners may also change views that others shared. */
export type Viewer = { organizationId: string; userId: string; isOwner: boolean };

/** Enough for a large team that shares many views. */
const LISTED_VIEWS_LIMIT = 500;

/** The views of one list that the viewer sees: their own and the shared ones, by name. */
export async function listViews(db: Queryable, viewer: Viewer, list: string): Promise<SavedView[]> {
  return await db.query<SavedView>(sql`
    select v.id, v.list, v.name, v.query, v.is_shared as "isShared", v.user_id as "userId", u.name as "userName"
    from saved_views v left join users u on u.id = v.user_id
    where v.organization_id = ${viewer.organizationId} and v.list = ${list}
      and (v.is_shared or v.user_id = ${viewer.userId})
    order by lower(v.name), v.id limit ${LISTED_VIEWS_LIMIT}`);
}

export type NewView = { list: string; name: string; query: string; isShared: boolean };

export async function createView(
  db: Database | Transaction,
  actor: Actor,
  viewer: Viewer,
  view: NewView,
): Promise<string> {
  const { organizationId, userId } = viewer;
  const id = newId('view');
  const name = checkedName(view.name);
  await inTransaction(db, async (tx) => {
    await assertBelowLimit(tx, {
      name: `views ${userId}`,
      rows: sql`select from saved_views where user_id = ${userId}`,
      limit: VIEWS_LIMIT,
      message: `You have saved ${VIEWS_LIMIT} views. Delete one before you save another.`,
      field: 'name',
    });
    await orNameTaken(
      tx.query(sql`
        insert into saved_views (id, organization_id, user_id, list, name, query, is_shared, created_at, updated_at)
        values (${id}, ${organizationId}, ${userId}, ${view.list}, ${name}, ${view.query}, ${view.isShared},
          ${clockTime(null)}, ${clockTime(null)})`),
    );
    await recordAudit(tx, actor, {
      organizationId,
      action: 'view.created',
      object: { kind: 'view', id },
      new: { list: view.list, name, query: view.query, isShared: view.isShared },
    });
  });
  return id;
}

/** Renames a view, shares it or makes it private, or stores what the list shows now; what is absent stays. */
export async function changeView(
  db: Database | Transaction,
  actor: Actor,
  viewer: Viewer,
  id: string,
  changes: { name?: string; query?: string; isShared?: boolean },
): Promise<void> {
  await inTransaction(db, async (tx) => {
    const old = await lockView(tx, viewer, id);
    const name = changes.name === undefined ? old.name : checkedName(changes.name);
    const { query = old.query, isShared = old.isShared } = changes;
    // What a colleague shared can be made private only by them: nobody else would ever see it again.
    if (!isShared && old.isShared && old.userId !== viewer.userId) {
      throw new DomainError('not_allowed', 'Only the person who saved this view can make it private.', 'is_shared');
    }
    await orNameTaken(
      tx.query(sql`
        update saved_views set name = ${name}, query = ${query}, is_shared = ${isShared}, updated_at = ${clockTime(null)}
        where id = ${id}`),
    );
    await recordAudit(tx, actor, {
      organizationId: viewer.organizationId,
      action: isShared === old.isShared ? 'view.changed' : 'view.shared',
      object: { kind: 'view', id },
      old: { name: old.name, query: old.query, isShared: old.isShared },
      new: { name, query, isShared },
    });
  });
}

export async function deleteView(db: Database | Transaction, actor: Actor, viewer: Viewer, id: string): Promise<void> {
  await inTransaction(db, async (tx) => {
    const old = await lockView(tx, viewer, id);
    await tx.query(sql`delete from saved_views where id = ${id}`);
    await recordAudit(tx, actor, {
      organizationId: viewer.organizationId,
      action: 'view.deleted',
      object: { kind: 'view', id },
      old: { list: old.list, name: old.name, query: old.query, isShared: old.isShared },
    });
  });
}

/** When somebody leaves the team, their private views go with them; what they shared stays. */
export async function removePrivateViews(tx: Transaction, userId: string): Promise<void> {
  await tx.query(sql`delete from saved_views where user_id = ${userId} and not is_shared`);
}

type Locked = { list: string; name: string; query: string; isShared: boolean; userId: string | null };

/** A private view of a colleague gets the same answer as one that does not exist. */
async function lockView(tx: Transaction, viewer: Viewer, id: string): Promise<Locked> {
  const [view] = await tx.query<Locked>(sql`
    select list, name, query, is_shared as "isShared", user_id as "userId" from saved_views
    where id = ${id} and organization_id = ${viewer.organizationId} and (is_shared or user_id = ${viewer.userId})
    for update`);
  if (view === undefined) throw new DomainError('not_found', 'There is no such view.');
  if (view.userId !== viewer.userId && !viewer.isOwner) {
    throw new DomainError('not_allowed', 'Only the person who saved this view, or an owner, may change it.');
  }
  return view;
}

async function orNameTaken<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error;
    throw new DomainError('invalid_input', 'You have a view of this list with that name. Choose another.', 'name');
  }
}
