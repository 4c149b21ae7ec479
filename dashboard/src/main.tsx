import '@mantine/core/styles.css';
import '../../src/http/style/tokens.css';
import './fonts.css';
import { MantineProvider, Title } from '@mantine/core';
import { createRoot } from 'react-dom/client';
import { theme } from './theme.ts';

const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <MantineProvider theme={theme} defaultColorScheme="auto">
      <Title>Crownwheel</Title>
    </MantineProvider>,
  );
}
