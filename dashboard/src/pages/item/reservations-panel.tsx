import { Button, Text, Title } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { queryClient, useOperation } from '../../api/queries.ts';
import { formatExactTime, formatRemaining, formatUnits } from '../../format.ts';
import { Confirm } from '../../ui/feedback/confirm.tsx';
import { useKeptFocus } from '../../ui/kept-focus.ts';
import { type Item, itemReservationsQuery, type Reservation } from './item-queries.ts';

/** Units that sites hold while their buyers check out, with the time that is left. */
export function ReservationsPanel({ item, onChanged }: { item: Item; onChanged: () => void }) {
  const { data } = useQuery(itemReservationsQuery(item.id));
  const [released, setReleased] = useState<Reservation | null>(null);
  const reservations = data?.data ?? [];
  const refresh = () => {
    void queryClient.invalidateQueries({ queryKey: itemReservationsQuery(item.id).queryKey });
    onChanged();
  };
  const section = useRef<HTMLElement>(null);
  useKeptFocus(section, reservations.map(({ id }) => id).join());
  // Once shown it stays, so that the focus has a place when the last one is released.
  const wasShown = useRef(false);
  wasShown.current ||= reservations.length > 0;
  if (!wasShown.current) return null;
  return (
    <section ref={section} className="item-section" aria-label="Reservations">
      <Title order={2} size="h4" tabIndex={-1}>
        Reservations
      </Title>
      <Text size="sm" c="dimmed">
        {reservations.length === 0
          ? 'No site holds a unit now.'
          : 'Sites hold these units while their buyers check out.'}
      </Text>
      {reservations.length === 0 ? null : (
        <ul className="plain-list" aria-label="Active reservations">
          {reservations.map((reservation) => (
            <li key={reservation.id}>
              <div>
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {reservation.reference ?? 'No reference'}
                </Text>
                <Text size="xs" c="dimmed">
                  {formatUnits(reservation.units)} · {reservation.channel} ·{' '}
                  <Remaining until={reservation.expires_at} onOver={refresh} />
                </Text>
              </div>
              <Button
                size="compact-xs"
                variant="default"
                flex="none"
                aria-label={`Release ${reservation.reference ?? reservation.id}`}
                onClick={() => setReleased(reservation)}
              >
                Release
              </Button>
            </li>
          ))}
        </ul>
      )}
      {released === null ? null : (
        <ReleaseDialog item={item} reservation={released} onClose={() => setReleased(null)} onChanged={refresh} />
      )}
    </section>
  );
}

type ReleaseDialogProps = { item: Item; reservation: Reservation; onClose: () => void; onChanged: () => void };

function ReleaseDialog({ item, reservation, onClose, onChanged }: ReleaseDialogProps) {
  const done = () => {
    onChanged();
    onClose();
  };
  const release = useOperation('POST /items/{item_id}/reservations/{reservation_id}/release', {
    success: 'Reservation released.',
    onSuccess: done,
  });
  return (
    <Confirm
      isOpen
      title="Release this reservation?"
      verb="Release"
      isDangerous
      isBusy={release.isPending}
      onConfirm={() => release.mutate({ params: { item_id: item.id, reservation_id: reservation.id } })}
      onClose={onClose}
    >
      {formatUnits(reservation.units)} can be sold again at once, and your sites learn of it by events. The buyer on{' '}
      {reservation.channel} may be paying right now: if the order comes and the units are gone, it waits in your queue
      without a match.
    </Confirm>
  );
}

const TICK_MS = 1_000;

/** The time that is left, counted down. */
function Remaining({ until, onOver }: { until: string; onOver: () => void }) {
  const [now, setNow] = useState(Date.now);
  const isOver = Date.parse(until) <= now;
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the time is over.
  useEffect(() => {
    if (isOver) onOver();
  }, [isOver]);
  return (
    <time dateTime={until} title={formatExactTime(until)}>
      {isOver ? 'ends now' : `${formatRemaining(Date.parse(until) - now)} left`}
    </time>
  );
}
