/** Orders of the demo shop: some of its past, and a queue that has something of everything. */
export type DemoOrder = {
  number: string;
  daysAgo: number;
  buyer: keyof typeof PEOPLE;
  /** Instead of the buyer's own. */
  phone?: string;
  lines: DemoOrderLine[];
  /** Minor units. */
  shipping: number;
  becomes: 'received' | 'matched' | 'fulfilled' | 'dismissed' | 'cancelled';
  reason?: string;
  metadata?: Record<string, unknown>;
};

export type DemoOrderLine = {
  /** The maker's reference or the part's number; of an item that is not in stock, the id that the site sends. */
  of: string;
  title: string;
  quantity?: number;
  /** Minor units; the item's own price if it is left out. */
  unitAmount?: number;
  discount?: number;
  /** False leaves the item's id out, as a site does that does not keep it. */
  isNamed?: boolean;
};

type DemoAddress = { line1: string; city: string; postal_code: string; state?: string; country: string };
export type DemoPerson = {
  external_id: string;
  email: string;
  phone: string;
  first_name: string;
  last_name: string;
  address: DemoAddress;
  /** If it is another one. */
  billing?: DemoAddress;
};

export const PEOPLE = {
  claire: {
    external_id: 'web-2041',
    email: 'claire.dubois@example.ch',
    phone: '+41 21 601 22 31',
    first_name: 'Claire',
    last_name: 'Dubois',
    address: { line1: 'Avenue d’Ouchy 14', city: 'Lausanne', postal_code: '1006', state: 'VD', country: 'CH' },
  },
  thomas: {
    external_id: 'web-1877',
    email: 'thomas.keller@example.ch',
    phone: '+41 44 201 88 12',
    first_name: 'Thomas',
    last_name: 'Keller',
    address: { line1: 'Seefeldstrasse 101', city: 'Zürich', postal_code: '8008', state: 'ZH', country: 'CH' },
    billing: { line1: 'Keller Uhren AG, Talacker 4', city: 'Zürich', postal_code: '8001', state: 'ZH', country: 'CH' },
  },
  sofia: {
    external_id: 'web-2107',
    email: 'sofia.rossi@example.it',
    phone: '+39 02 7600 4411',
    first_name: 'Sofia',
    last_name: 'Rossi',
    address: { line1: 'Via della Spiga 22', city: 'Milano', postal_code: '20121', country: 'IT' },
  },
  james: {
    external_id: 'web-2113',
    email: 'j.whitfield@example.co.uk',
    phone: '+44 20 7629 8800',
    first_name: 'James',
    last_name: 'Whitfield',
    address: { line1: '18 Albemarle Street', city: 'London', postal_code: 'W1S 4HT', country: 'GB' },
  },
  aiko: {
    external_id: 'web-2130',
    email: 'aiko.tanaka@example.jp',
    phone: '+81 3 3571 2200',
    first_name: 'Aiko',
    last_name: 'Tanaka',
    address: { line1: '5-8-1 Ginza', city: 'Tokyo', postal_code: '104-0061', country: 'JP' },
  },
  tester: {
    external_id: 'test-1',
    email: 'test.buyer@example.com',
    phone: '+41 22 310 00 00',
    first_name: 'Test',
    last_name: 'Buyer',
    address: { line1: 'Rue du Test 1', city: 'Geneva', postal_code: '1200', country: 'CH' },
  },
} satisfies Record<string, DemoPerson>;

/** Before anything was sold over the counter in the last days, oldest first. */
export const PAST_ORDERS: readonly DemoOrder[] = [
  {
    number: 'AE-10184',
    daysAgo: 26,
    buyer: 'claire',
    lines: [{ of: '126622', title: 'Rolex Yacht-Master 40' }],
    shipping: 4_500,
    becomes: 'fulfilled',
  },
  {
    number: 'AE-10191',
    daysAgo: 21,
    buyer: 'thomas',
    lines: [
      { of: 'IW371605', title: 'IWC Portugieser Chronograph', discount: 20_000 },
      { of: '93150-L3', title: 'Oyster links, set of three', quantity: 2 },
    ],
    shipping: 2_500,
    becomes: 'fulfilled',
    metadata: { cart: '88412', gift_wrap: true },
  },
  {
    number: 'AE-10197',
    daysAgo: 17,
    buyer: 'aiko',
    lines: [{ of: 'Q9068681', title: 'Jaeger-LeCoultre Polaris Date' }],
    shipping: 9_000,
    becomes: 'cancelled',
    reason: 'The card was declined.',
  },
  {
    number: 'AE-10212',
    daysAgo: 8,
    buyer: 'sofia',
    lines: [{ of: '126720VTNR', title: 'Rolex GMT-Master II “Sprite”' }],
    shipping: 6_000,
    becomes: 'matched',
    metadata: { cart: '88590', insurance: 'full' },
  },
  {
    number: 'AE-10218',
    daysAgo: 4,
    buyer: 'claire',
    lines: [{ of: 'PAM01312', title: 'Panerai Luminor Marina' }],
    shipping: 4_500,
    becomes: 'matched',
  },
  // Its webhook is given up a day later, in the days that the home page shows.
  {
    number: 'AE-10219',
    daysAgo: 3,
    buyer: 'sofia',
    lines: [{ of: '25600TB', title: 'Tudor Pelagos' }],
    shipping: 6_000,
    becomes: 'dismissed',
    reason: 'The buyer paid in the boutique instead.',
  },
];

/** What waits: ready to confirm, sold meanwhile, without an id, too few, and from a buyer who is two people. */
export const QUEUED_ORDERS: readonly DemoOrder[] = [
  {
    number: 'AE-10221',
    daysAgo: 2,
    buyer: 'james',
    lines: [{ of: '5227R-001', title: 'Patek Philippe Calatrava' }],
    shipping: 12_000,
    becomes: 'received',
    metadata: { cart: '88701', note: 'Please call before delivery.' },
  },
  {
    number: 'AE-10223',
    daysAgo: 1.1,
    buyer: 'thomas',
    lines: [
      { of: '298600-3001', title: 'Chopard Alpine Eagle 41' },
      { of: '168.005', title: 'Omega Constellation, 1966' },
    ],
    shipping: 2_500,
    becomes: 'received',
  },
  {
    number: 'AE-10224',
    daysAgo: 0.4,
    buyer: 'aiko',
    lines: [
      { of: '210.30.42.20.03.001', title: 'Omega Seamaster Diver 300M, ref. 210.30.42.20.03.001', isNamed: false },
    ],
    shipping: 9_000,
    becomes: 'received',
  },
  {
    number: 'AE-10225',
    daysAgo: 0.15,
    buyer: 'sofia',
    lines: [{ of: '063TN5219', title: 'Omega Hesalite crystal', quantity: 12 }],
    shipping: 1_500,
    becomes: 'received',
  },
  {
    number: 'AE-10226',
    daysAgo: 0.02,
    buyer: 'claire',
    phone: '+41 44 201 88 12',
    lines: [{ of: 'lst_01h455vb4pex5vsknk084sn02q', title: 'Cartier Santos WSSA0018', unitAmount: 636_000 }],
    shipping: 4_500,
    becomes: 'received',
  },
];

/** What an integrator tried on the staging website. */
export const TEST_ORDERS: readonly DemoOrder[] = [
  {
    number: 'TEST-1',
    daysAgo: 1.5,
    buyer: 'tester',
    lines: [{ of: '126334', title: 'Rolex Datejust 41' }],
    shipping: 0,
    becomes: 'fulfilled',
  },
  {
    number: 'TEST-2',
    daysAgo: 0.3,
    buyer: 'tester',
    lines: [{ of: '126334', title: 'Rolex Datejust 41' }],
    shipping: 0,
    becomes: 'received',
  },
];
