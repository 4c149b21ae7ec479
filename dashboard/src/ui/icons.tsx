/** Line drawings of 20 units, in the colour of the text around them. They are decoration: a word always stands beside. */
const SHAPES = {
  home: 'M3 9.5 10 3l7 6.5V17h-5v-5H8v5H3z',
  watch: 'M10 5a5 5 0 1 0 0 10 5 5 0 0 0 0-10zM10 7.5V10l1.8 1.4M7.5 5 8 2h4l.5 3M7.5 15l.5 3h4l.5-3',
  part: 'M10 7a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM10 2v3M10 15v3M2 10h3M15 10h3M4.3 4.3l2.2 2.2M13.5 13.5l2.2 2.2M15.7 4.3l-2.2 2.2M6.5 13.5l-2.2 2.2',
  order: 'M4 3h12v14l-3-2-3 2-3-2-3 2zM7 7h6M7 10.5h6',
  sale: 'M3 10 10 3h7v7l-7 7zM13.5 6.5h.01',
  customer: 'M10 4a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM4 17c.5-3.5 3-5 6-5s5.500 1.500 6 5',
  integration: 'M7 7 4 10l3 3M13 7l3 3-3 3M11.500 5l-3 10',
  delivery: 'M3 5h14v10H3zM3 6l7 5 7-5',
  event: 'M11 2 4 11h5l-1 7 7-9h-5z',
  request: 'M3 6h11M11 3l3 3-3 3M17 14H6M9 11l-3 3 3 3',
  audit: 'M5 3h7l3 3v11H5zM8 9h4M8 12h4',
  settings: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4',
  import: 'M10 3v9M6.500 8.500 10 12l3.500-3.500M3 14v3h14v-3',
  job: 'M4 5h2M4 10h2M4 15h2M9 5h7M9 10h7M9 15h7',
  search: 'M9 4a5 5 0 1 0 0 10A5 5 0 0 0 9 4zM13 13l4 4',
  sun: 'M10 6.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7zM10 2v2M10 16v2M2 10h2M16 10h2M4.500 4.500l1.300 1.300M14.200 14.200l1.300 1.300M15.500 4.500l-1.300 1.300M5.800 14.200l-1.300 1.300',
  moon: 'M16 12.500A7 7 0 1 1 8 3.500a5.500 5.500 0 0 0 8 9z',
  copy: 'M7 7h9v10H7zM4 13V3h9',
  back: 'M12 5 7 10l5 5',
  forward: 'M8 5l5 5-5 5',
  turn: 'M15 10a5 5 0 1 1-2-4M13 2v4h-4',
  close: 'M5 5l10 10M15 5 5 15',
  check: 'M4 10.500 8.500 15 16 6',
  menu: 'M3 6h14M3 10h14M3 14h14',
  more: 'M4.500 10h.01M10 10h.01M15.500 10h.01',
  columns: 'M3 4h14v12H3zM8 4v12M12.500 4v12',
  filter: 'M3 5h14M6 10h8M8.500 15h3',
  cards: 'M3 3h6v6H3zM11 3h6v6h-6zM3 11h6v6H3zM11 11h6v6h-6z',
  view: 'M5 3h10v14l-5-4-5 4z',
  down: 'M5 8l5 5 5-5',
  keyboard: 'M2 6h16v9H2zM5 9h.01M8 9h.01M11 9h.01M14 9h.01M7 12h6',
} as const;

export type IconName = keyof typeof SHAPES;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth={1.5}
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      <path d={SHAPES[name]} />
    </svg>
  );
}
