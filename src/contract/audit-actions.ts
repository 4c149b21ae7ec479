/** Every action that the audit log records, with its text for people. */
const labels = {
  'organization.created': 'Organization created',
  'organization.changed': 'Business details changed',
  'organization.plan_changed': 'Plan changed',
  'organization.provisioning_changed': 'Provisioning changed',
  'organization.storage_quota_changed': 'Storage quota changed',
  'organization.deleted': 'Organization deleted',
  'user.created': 'User created',
  'user.invited': 'Invitation made',
  'user.invitation_withdrawn': 'Invitation withdrawn',
  'user.account_changed': 'Account changed',
  'user.role_changed': 'Role changed',
  'user.password_changed': 'Password changed',
  'user.reset_link_made': 'Reset link made',
  'user.removed': 'User removed',
  'integration.created': 'Integration created',
  'integration.renamed': 'Integration renamed',
  'integration.test_mode_changed': 'Test mode switched on or off',
  'integration.key_regenerated': 'API key regenerated',
  'integration.enabled_changed': 'Integration switched on or off',
  'integration.rate_limit_changed': 'Rate limit changed',
  'integration.storage_quota_changed': 'Storage quota changed',
  'integration.attachment_changed': 'Integration attached or detached',
  'integration.presentation_changed': 'Prices and photos of the channel changed',
  'integration.version_rolled': 'API version changed',
  'integration.test_data_deleted': 'Test data deleted',
  'integration.deleted': 'Integration deleted',
  'webhooks.url_changed': 'Webhook URL changed',
  'webhooks.enabled_changed': 'Webhooks switched on or off',
  'webhooks.subscription_changed': 'Webhook events changed',
  'webhooks.secret_rotated': 'Signing secret rotated',
  'webhooks.test_event_sent': 'Test event sent',
  'webhooks.deliveries_replayed': 'Deliveries sent again',
  'webhooks.replay_started': 'Replay started',
  'webhooks.replay_cancelled': 'Replay cancelled',
  'rate.set': 'Exchange rate set',
  'rate.removed': 'Exchange rate removed',
  'item.created': 'Item created',
  'item.edited': 'Item edited',
  'item.visibility_changed': 'Item hidden or shown',
  'item.publication_changed': 'Item published or unpublished',
  'item.units_moved': 'Units moved',
  'item.units_reserved': 'Units reserved',
  'item.units_released': 'Units released',
  'reservation.released': 'Reservation released',
  'item.deleted': 'Item deleted for ever',
  'stock.imported': 'Stock imported',
  'stock.job_undone': 'Job undone',
  'stock.bulk_changed': 'Many items changed',
  'stock.bulk_deleted': 'Many items deleted for ever',
  'photo.added': 'Photo added',
  'photo.removed': 'Photo removed',
  'photo.restored': 'Photo put back',
  'photo.rotated': 'Photo rotated',
  'photo.order_changed': 'Photos put in another order',
  'promotion.started': 'Promotion planned or started',
  'promotion.changed': 'Promotion changed',
  'promotion.ended': 'Promotion ended',
  'business_unit.created': 'Business unit created',
  'business_unit.renamed': 'Business unit renamed',
  'business_unit.deleted': 'Business unit deleted',
  'location.created': 'Location created',
  'location.renamed': 'Location renamed',
  'location.deleted': 'Location deleted',
  'order.line_matched': 'Order line matched',
  'order.line_unmatched': 'Item taken off an order line',
  'order.confirmed': 'Order confirmed',
  'order.fulfilled': 'Order fulfilled',
  'order.dismissed': 'Order dismissed',
  'order.sale_cancelled': 'Sale of an order cancelled',
  'order.customer_assigned': 'Customer of an order assigned',
  'sale.made': 'Units sold',
  'sale.changed': 'Amount or buyer of a sale changed',
  'sale.voided': 'Sale voided',
  'customer.changed': 'Customer changed',
  'customer.merged': 'Customers merged',
  'customer.erased': 'Customer erased for ever',
  'view.created': 'View saved',
  'view.changed': 'View changed',
  'view.shared': 'View shared or made private',
  'view.deleted': 'View deleted',
} as const;

export type AuditAction = keyof typeof labels;

export const AUDIT_ACTION_LABELS: Readonly<Record<AuditAction, string>> = labels;

/** Actions that switch something: which value says on or off, and the text for each. */
const switches: Partial<Record<AuditAction, { field: string; on: string; off: string }>> = {
  'integration.test_mode_changed': { field: 'isTestMode', on: 'Test mode switched on', off: 'Test mode switched off' },
  'integration.enabled_changed': { field: 'isEnabled', on: 'Integration switched on', off: 'Integration switched off' },
  'webhooks.enabled_changed': { field: 'isEnabled', on: 'Webhooks switched on', off: 'Webhooks switched off' },
  'item.visibility_changed': { field: 'isHidden', on: 'Item hidden', off: 'Item shown' },
  'item.publication_changed': { field: 'isOn', on: 'Item published', off: 'Item unpublished' },
  'view.shared': { field: 'isShared', on: 'View shared', off: 'View made private' },
};

/** The text of an action; for a switch it depends on the new values. */
export function auditActionText(action: AuditAction, newValues: Readonly<Record<string, unknown>>): string {
  const found = switches[action];
  const value = found === undefined ? undefined : newValues[found.field];
  return found === undefined || typeof value !== 'boolean' ? labels[action] : value ? found.on : found.off;
}

/** The kinds of objects that an audit row can be about. */
const kindLabels = {
  organization: 'Business',
  user: 'Person',
  integration: 'Integration',
  exchange_rate: 'Exchange rate',
  item: 'Item',
  business_unit: 'Business unit',
  location: 'Location',
  order: 'Order',
  sale: 'Sale',
  customer: 'Customer',
  view: 'View',
} as const;

export type AuditObjectKind = keyof typeof kindLabels;

export const AUDIT_OBJECT_KIND_LABELS: Readonly<Record<AuditObjectKind, string>> = kindLabels;

/** The names of actors that are not people. */
export const AUDIT_ACTOR_LABELS = { person: 'Person', command_line: 'Command line', job: 'Background job' } as const;

const jobLabels: Readonly<Record<string, string>> = { deliveries: 'Webhook delivery', demo: 'Demo data' };

/** The name of a background job that changed something. */
export function auditJobName(name: string | null): string {
  return jobLabels[name ?? ''] ?? name ?? AUDIT_ACTOR_LABELS.job;
}

export type AuditActorKind = keyof typeof AUDIT_ACTOR_LABELS;
