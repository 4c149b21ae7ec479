import { createTheme, type MantineColorsTuple } from '@mantine/core';

/**
 * Mantine in the product's own colours and type. The design tokens in src/http/style/tokens.css lead; the ramps here
 * only give Mantine the ten shades that it derives hover and filled states from.
 */
const steel: MantineColorsTuple = [
  '#edf2fa',
  '#dae4f3',
  '#b3c8e6',
  '#8db6ee',
  '#5c8fd0',
  '#3b70b5',
  '#2a5c9f',
  '#1c4a8a',
  '#163c71',
  '#102d56',
];
const brass: MantineColorsTuple = [
  '#f8f2e4',
  '#efe3c5',
  '#e0ca93',
  '#cba965',
  '#b5914a',
  '#a07c38',
  '#8a6a2c',
  '#735722',
  '#5c451a',
  '#453311',
];
const ruby: MantineColorsTuple = [
  '#fbeef0',
  '#f5d3d9',
  '#f0929f',
  '#de6478',
  '#c9405a',
  '#b42c47',
  '#9c1f38',
  '#82182d',
  '#671222',
  '#4d0c18',
];
const jade: MantineColorsTuple = [
  '#eaf5f0',
  '#cde7da',
  '#a5d7bf',
  '#7fcaa6',
  '#4ea680',
  '#338564',
  '#226348',
  '#1b513b',
  '#143f2d',
  '#0d2c1f',
];
const copper: MantineColorsTuple = [
  '#fbf0e9',
  '#f6dac9',
  '#f0bf9f',
  '#eba478',
  '#d27c49',
  '#b46030',
  '#97481a',
  '#7d3a13',
  '#632d0e',
  '#491f08',
];
/** Greys of the night: text, lines and grounds of dark pages. */
const dark: MantineColorsTuple = [
  '#e6e9ee',
  '#a4aebd',
  '#8590a1',
  '#3b4a5e',
  '#243040',
  '#1b2430',
  '#121923',
  '#0c1118',
  '#090d13',
  '#06090d',
];
const gray: MantineColorsTuple = [
  '#f9fafb',
  '#f5f6f8',
  '#eef0f3',
  '#dde1e7',
  '#b9c0cb',
  '#8a93a1',
  '#667080',
  '#4b5565',
  '#2d3542',
  '#161b24',
];

export const theme = createTheme({
  primaryColor: 'steel',
  primaryShade: { light: 7, dark: 6 },
  colors: { steel, brass, ruby, jade, copper, dark, gray, red: ruby, green: jade, orange: copper, yellow: brass },
  black: '#161b24',
  fontFamily: 'var(--text)',
  fontFamilyMonospace: 'var(--mono)',
  headings: { fontFamily: 'var(--display)', fontWeight: '400' },
  fontSizes: { xs: '12px', sm: '14px', md: '15px', lg: '17px', xl: '20px' },
  lineHeights: { xs: '1.4', sm: '1.45', md: '1.5', lg: '1.5', xl: '1.4' },
  defaultRadius: 'sm',
  radius: { xs: '2px', sm: '4px', md: '6px', lg: '8px', xl: '12px' },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Anchor: { defaultProps: { underline: 'always' } },
    Button: { defaultProps: { size: 'sm' } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Paper: { defaultProps: { shadow: 'none' } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
    Modal: {
      defaultProps: {
        // Below the top rather than in the middle: what grows or shrinks in a dialog moves nothing under the pointer. On a
        // phone it has most of the height.
        yOffset: 'min(12dvh, 8vw)',
        closeButtonProps: { 'aria-label': 'Close' },
        // A header within a dialog is not the banner of the page.
        attributes: { header: { role: 'none' } },
      },
    },
  },
});
