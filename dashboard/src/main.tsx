import '@mantine/core/styles.css';
import '@mantine/dates/styles.css';
import '@mantine/notifications/styles.css';
import '@mantine/spotlight/styles.css';
import '../../src/http/style/tokens.css';
import './fonts.css';
import './app.css';
import './ui/plots/bar-plot.css';
import './shell/shell.css';
import './pages/sign-in/sign-in.css';
import './pages/deliveries/delivery.css';
import './pages/home/home.css';
import './table/table.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/queries.ts';
import { router } from './router.tsx';
import { theme } from './theme.ts';

const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <QueryClientProvider client={queryClient}>
        <Notifications position="bottom-right" />
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>,
  );
}
