/** An endpoint is known by its integration; the endpoints of a dealer share what the dealer may have. */
export type EndpointIds = { integrationId: string; organizationId: string };
