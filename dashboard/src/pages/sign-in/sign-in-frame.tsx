import { Title } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type ReactNode, useEffect } from 'react';
import type { Output } from '../../api/client.ts';
import { queryClient } from '../../api/queries.ts';
import { paths } from '../../paths.ts';
import { sessionQuery } from '../../shell/session/session.ts';
import { Mark } from '../../ui/mark.tsx';

/** The frame of all pages before the sign-in. */
export function SignInFrame({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Crownwheel`;
  }, [title]);
  return (
    <main className="sign-in">
      <Mark />
      <div className="sign-in-panel">
        <Title order={1} size="h3" mb="md">
          {title}
        </Title>
        {children}
      </div>
    </main>
  );
}

/** After a sign-in: to where the person wanted to go, if that is a page of ours. */
export function useEnter(): (session: Output<'GET /session'>) => void {
  const navigate = useNavigate();
  const { next } = useSearch({ strict: false }) as { next?: string };
  return (session) => {
    queryClient.clear();
    queryClient.setQueryData(sessionQuery.queryKey, session);
    const isOurs = next?.startsWith('/') === true && !next.startsWith('//') && !next.includes('\\');
    void navigate({ href: isOurs ? next : paths.home(), replace: true });
  };
}
