import type { Static } from 'typebox';
import { type LastChange, lastChangesOf } from '../../../audit/read-audit.ts';
import { AUDIT_ACTOR_LABELS, type AuditAction } from '../../../contract/audit-actions.ts';
import type { endpointStop, SwitchedOff } from '../../../contract/dashboard/integrations/integrations.ts';
import type { Queryable } from '../../../db/database.ts';
import { namesOfPeople } from '../../../dealers/people-names.ts';
import type { EndpointStatus } from '../../../webhooks/endpoints/endpoint-status.ts';

export type EndpointStop = { [Name in keyof typeof endpointStop]: Static<(typeof endpointStop)[Name]> };

type Endpoint = Pick<EndpointStatus, 'integrationId' | 'isEnabled' | 'stopReasons'>;

/** Why nothing is sent to an integration and, if somebody switched it off, since when and who. */
export async function presentStop(
  db: Queryable,
  organizationId: string,
  endpoint: Endpoint | undefined,
): Promise<EndpointStop> {
  const stopOf = await presentStops(db, organizationId, endpoint === undefined ? [] : [endpoint]);
  return stopOf(endpoint?.integrationId ?? '');
}

/** The same for many integrations, by as many statements as for one. */
export async function presentStops(
  db: Queryable,
  organizationId: string,
  endpoints: readonly Endpoint[],
): Promise<(integrationId: string) => EndpointStop> {
  const switchedOff = await readSwitches(db, organizationId, endpoints);
  const stops = new Map(
    endpoints.map(({ integrationId, stopReasons }) => [
      integrationId,
      { stop_reasons: stopReasons, switched_off: switchedOff.get(integrationId) ?? null },
    ]),
  );
  return (integrationId) => stops.get(integrationId) ?? { stop_reasons: [], switched_off: null };
}

/** The last change of each switch that is off, from the audit log; none if the log has forgotten it. */
async function readSwitches(
  db: Queryable,
  organizationId: string,
  endpoints: readonly Endpoint[],
): Promise<Map<string, Static<typeof SwitchedOff>>> {
  const switches = endpoints.flatMap((endpoint) => {
    const action = actionOf(endpoint);
    return action === null ? [] : { objectId: endpoint.integrationId, action };
  });
  if (switches.length === 0) return new Map();
  const changes = await lastChangesOf(db, organizationId, 'integration', switches);
  const switchedOff = changes.filter(({ newValues }) => newValues.isEnabled === false);
  const people = switchedOff.map(({ actorId }) => actorId ?? '');
  const names = people.length === 0 ? new Map<string, string>() : await namesOfPeople(db, organizationId, people);
  return new Map(
    switchedOff.map((change) => [change.objectId, { at: change.at.toISOString(), by: byWhom(change, names) }]),
  );
}

/** The action that switches on and off what stops an endpoint; null if nobody switched anything off. */
function actionOf({ isEnabled, stopReasons }: Endpoint): AuditAction | null {
  if (!isEnabled) return 'webhooks.enabled_changed';
  return stopReasons.includes('integration_disabled') ? 'integration.enabled_changed' : null;
}

function byWhom({ actorKind, actorId }: LastChange, names: Map<string, string>): string | null {
  if (actorKind === 'job') return null;
  if (actorKind === 'command_line') return AUDIT_ACTOR_LABELS.command_line;
  return names.get(actorId ?? '') ?? 'somebody who left';
}
