import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The port of a service that runs beside `npx vite dashboard`: its API answers the pages under development. */
const SERVICE = 'http://localhost:4000';

export default defineConfig({
  root: import.meta.dirname,
  // Pages load their files relative to themselves, so that a PUBLIC_URL with a path works without another build.
  base: './',
  plugins: [react()],
  build: {
    target: 'es2023',
    // The oldest browsers that know light-dark(), which the design tokens are written with.
    cssTarget: ['chrome125', 'firefox125', 'safari17.5'],
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2_000,
    assetsInlineLimit: 0,
    // What two pages share is one file. By itself the bundler makes 120 of a few hundred bytes, of which a page loads 75.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] } } },
  },
  server: { proxy: { '/api': SERVICE, '/photos': SERVICE } },
});
