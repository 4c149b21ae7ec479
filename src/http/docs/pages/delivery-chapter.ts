import { GONE_LIMIT } from '../../../contract/limits.ts';
import {
  ATTEMPT_LIMIT,
  ATTEMPT_TIMEOUT_MS,
  ATTEMPT_WAITS_MS,
} from '../../../webhooks/delivery-queue/retries/retry-schedule.ts';
import type { Chapter } from '../chapter.ts';
import { html } from '../markup/html.ts';
import { counted } from '../markup/text.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** What happens to a webhook that fails, with the waits of the real retry schedule. */
export function deliveries(): Chapter {
  const allWaitsMs = sinceFirstMs(ATTEMPT_LIMIT - 1);
  return {
    id: 'deliveries',
    title: 'Attempts and retries',
    body: html`<div class="spread"><div>
<p>A webhook is delivered when your URL answers with any 2xx. Anything else is a failed attempt: another status, a redirect, no connection, or no
complete answer within <strong>${counted(ATTEMPT_TIMEOUT_MS / SECOND_MS, 'second')}</strong>. It is tried again, up to ${ATTEMPT_LIMIT} times in all.</p>
<ul class="rules">
<li><strong>After ${ATTEMPT_LIMIT} attempts,</strong> about ${counted(Math.round(allWaitsMs / HOUR_MS), 'hour')}, a delivery becomes a <code>dead_letter</code>. It is kept, and not tried again by itself.</li>
<li><strong>Replay.</strong> The dealer can send it again from the list of deliveries: the same event with the same id, and the attempts begin at 1 anew. Deliveries that you took can be sent again too, if you have lost them.</li>
<li><strong>410 says stop.</strong> ${GONE_LIMIT} answers of 410 Gone in a row, with no other result between them, turn the webhooks of the integration off. The dealer turns them on again in the settings.</li>
<li><strong>While they are off, nothing is lost.</strong> Also while the integration is switched off or its plan has ended, deliveries are held. They are sent as soon as it is on again, to the URL of that moment, and go on with the attempt that they had reached.</li>
<li><strong>Without a URL there are no deliveries.</strong> What happens before one is set is in the list of events alone.</li>
</ul></div>
<table class="attempts">
<thead><tr><th scope="col">Attempt</th><th scope="col">Wait before it</th><th scope="col">Since the first</th></tr></thead>
<tbody>${ATTEMPT_WAITS_MS.map(
      (waitMs, index) =>
        html`<tr><th scope="row">${index + 1}</th><td>${waitText(waitMs)}</td><td>${spanText(sinceFirstMs(index))}</td></tr>`,
    )}</tbody>
<caption>Each wait begins when the attempt before it has ended.</caption>
</table></div>`,
  };
}

function sinceFirstMs(index: number): number {
  return ATTEMPT_WAITS_MS.slice(0, index + 1).reduce((sum, waitMs) => sum + waitMs, 0);
}

function waitText(waitMs: number): string {
  if (waitMs === 0) return 'at once';
  if (waitMs < MINUTE_MS) return counted(waitMs / SECOND_MS, 'second');
  return waitMs < HOUR_MS ? counted(waitMs / MINUTE_MS, 'minute') : counted(waitMs / HOUR_MS, 'hour');
}

/** Rounded down to minutes, except where there are none. */
function spanText(spanMs: number): string {
  if (spanMs < MINUTE_MS) return spanMs === 0 ? '' : `${spanMs / SECOND_MS} s`;
  const [hours, minutes] = [Math.floor(spanMs / HOUR_MS), Math.floor((spanMs % HOUR_MS) / MINUTE_MS)];
  return [hours === 0 ? '' : `${hours} h`, minutes === 0 ? '' : `${minutes} min`].filter(Boolean).join(' ');
}
