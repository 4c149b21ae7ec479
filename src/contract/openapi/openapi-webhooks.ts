import { EVENT_TYPES, type EventType } from '../event-types.ts';
import { eventExample, eventExampleOf, eventSchemaName } from '../resources/event.ts';
import { WEBHOOK_HEADERS } from '../webhooks.ts';

type Json = Record<string, unknown>;

/** The `webhooks` of the OpenAPI description: one for each type of event. */
export function webhookDescriptions(): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(EVENT_TYPES).map(([type, { when, object, previous }]) => [
      type,
      {
        post: {
          operationId: `on_${type.replace('.', '_')}`,
          tags: ['Events'],
          summary: type,
          description: [
            when,
            `\`data.object\`: ${object}`,
            previous === null ? null : `\`data.previous_attributes\`: ${previous}`,
          ]
            .filter((paragraph) => paragraph !== null)
            .join('\n\n'),
          // A webhook carries no API key: the receiver verifies the signature in the header.
          security: [],
          parameters: headerParameters(type),
          requestBody: {
            required: true,
            content: {
              'application/json': {
                schema: { $ref: `#/components/schemas/${eventSchemaName(type as EventType)}` },
                example: eventExampleOf(type as EventType),
              },
            },
          },
          responses: {
            '2XX': { description: 'Received. Answer at once, and do slow work afterwards.' },
            410: { description: 'Gone: send nothing more. After some of these in a row webhooks are switched off.' },
            default: { description: 'Not received; the event is sent again later.' },
          },
        },
      },
    ]),
  );
}

function headerParameters(type: string): Json[] {
  return Object.entries(WEBHOOK_HEADERS)
    .filter(([name]) => name !== 'Content-Type')
    .map(([name, { meaning, example }]) => ({
      name,
      in: 'header',
      required: true,
      description: meaning,
      schema: { type: 'string' },
      example: example === eventExample.type ? type : example,
    }));
}
