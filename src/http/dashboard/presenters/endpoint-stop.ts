import type { Static } from 'typebox';
import { listAudit } from '../../../audit/read-audit.ts';
import { AUDIT_ACTOR_LABELS, type AuditAction } from '../../../contract/audit-actions.ts';
import type { endpointStop, SwitchedOff } from '../../../contract/dashboard/integrations/integrations.ts';
import type { Queryable } from '../../../db/database.ts';
import { namesOfPeople } from '../../../dealers/people-names.ts';
import type { EndpointStatus } from '../../../webhooks/endpoints/endpoint-status.ts';

type EndpointStop = { [Name in keyof typeof endpointStop]: Static<(typeof endpointStop)[Name]> };

/** Why nothing is sent to an integration and, if somebody switched it off, since when and who. */
export async function presentStop(
  db: Queryable,
  organizationId: string,
  endpoint: Pick<EndpointStatus, 'integrationId' | 'isEnabled' | 'stopReasons'> | undefined,
): Promise<EndpointStop> {
  if (endpoint === undefined) return { stop_reasons: [], switched_off: null };
  const { integrationId, isEnabled, stopReasons } = endpoint;
  const action = !isEnabled
    ? 'webhooks.enabled_changed'
    : stopReasons.includes('integration_disabled')
      ? 'integration.enabled_changed'
      : null;
  return {
    stop_reasons: stopReasons,
    switched_off: action === null ? null : await readSwitch(db, organizationId, integrationId, action),
  };
}

/** The last change of the switch, from the audit log; null if the log has forgotten it. */
async function readSwitch(
  db: Queryable,
  organizationId: string,
  integrationId: string,
  action: AuditAction,
): Promise<Static<typeof SwitchedOff> | null> {
  const filter = { organizationId, action, objectKind: 'integration', objectId: integrationId } as const;
  const [row] = await listAudit(db, { ...filter, start: null, limit: 1 });
  if (row === undefined || row.newValues.isEnabled !== false) return null;
  const at = row.at.toISOString();
  if (row.actorKind === 'job') return { at, by: null };
  if (row.actorKind === 'command_line') return { at, by: AUDIT_ACTOR_LABELS.command_line };
  const names = await namesOfPeople(db, organizationId, [row.actorId ?? '']);
  return { at, by: names.get(row.actorId ?? '') ?? 'somebody who left' };
}
