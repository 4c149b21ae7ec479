import type { ValueOf } from '../../contract/enumerations.ts';
import type { PartAttributes } from '../../contract/resources/part.ts';
import type { PartLook } from '../drawing/part/part-drawing.ts';

/** A spare part of the demo, ready to be taken into stock and to be drawn. */
export type DemoPart = {
  title: string;
  description: string;
  /** In whole units of the dealer's currency. */
  price: number;
  units: number;
  attributes: PartAttributes;
  look: PartLook;
};

type Fit = readonly [brand: string, model: string, reference: string, caliber: string];

type PartSpec = {
  title: string;
  number: string;
  category: ValueOf<'part_category'>;
  condition: ValueOf<'condition'>;
  price: number;
  units: number;
  fits: readonly [Fit, ...Fit[]];
  about: string;
  look?: Partial<PartLook>;
};

const SPECS: readonly PartSpec[] = [
  {
    title: 'Rolex Triplock crown, steel',
    number: '24-703-0',
    category: 'crown',
    condition: 'unworn',
    price: 185,
    units: 6,
    fits: [
      ['Rolex', 'Submariner', '16610', '3135'],
      ['Rolex', 'Sea-Dweller', '16600', '3135'],
      ['Rolex', 'GMT-Master II', '16710', '3185'],
    ],
    about: 'Screw-down crown with three gaskets and its tube, for cases made from 1989 on.',
  },
  {
    title: 'Rolex Twinlock crown, yellow gold',
    number: '24-603-8',
    category: 'crown',
    condition: 'unworn',
    price: 640,
    units: 2,
    fits: [
      ['Rolex', 'Datejust 36', '16233', '3135'],
      ['Rolex', 'Day-Date', '18238', '3155'],
    ],
    about: 'Solid 18 carat, with two gaskets. Bring the old one: the tube has to match.',
    look: { metal: 'yellow_gold' },
  },
  {
    title: 'Rolex sapphire crystal with date lens',
    number: '25-295-C',
    category: 'crystal',
    condition: 'unworn',
    price: 240,
    units: 4,
    fits: [
      ['Rolex', 'Datejust', '16234', '3135'],
      ['Rolex', 'Submariner Date', '16610', '3135'],
    ],
    about: 'Flat sapphire with a lens that enlarges the date two and a half times. Gasket included.',
  },
  {
    title: 'Omega Hesalite crystal',
    number: '063TN5219',
    category: 'crystal',
    condition: 'unworn',
    price: 68,
    units: 9,
    fits: [
      ['Omega', 'Speedmaster Professional', '3570.50.00', '1861'],
      ['Omega', 'Speedmaster Professional', '145.022', '861'],
    ],
    about: 'Domed, with the maker’s sign in the centre, where only a loupe finds it.',
  },
  {
    title: 'Rolex bezel insert, black aluminium',
    number: '315-16610-1',
    category: 'insert',
    condition: 'unworn',
    price: 165,
    units: 3,
    fits: [
      ['Rolex', 'Submariner Date', '16610', '3135'],
      ['Rolex', 'Submariner', '14060M', '3130'],
    ],
    about: 'With its pearl. It is pressed in; do not try it with a kitchen spoon.',
    look: { color: '#17181b' },
  },
  {
    title: 'Tudor bezel insert, burgundy',
    number: 'T-79230R-INS',
    category: 'insert',
    condition: 'unworn',
    price: 140,
    units: 2,
    fits: [['Tudor', 'Black Bay', '79230R', 'MT5602']],
    about: 'Matt aluminium in the colour of the first Black Bay.',
    look: { color: '#6b1f2a' },
  },
  {
    title: 'Omega ceramic bezel, blue',
    number: '082SU1637',
    category: 'bezel',
    condition: 'unworn',
    price: 395,
    units: 1,
    fits: [['Omega', 'Seamaster Diver 300M', '212.30.41.20.03.001', '2500']],
    about: 'Complete bezel with its click spring. Liquidmetal numerals in blue ceramic.',
    look: { color: '#1c4a86' },
  },
  {
    title: 'Fluted bezel, 18 carat white gold',
    number: '310-16234-8',
    category: 'bezel',
    condition: 'very_good',
    price: 1_150,
    units: 1,
    fits: [['Rolex', 'Datejust 36', '16234', '3135']],
    about: 'From a watch that got diamonds. Light traces on the flutes, measures exactly as new.',
    look: { metal: 'white_gold', isFluted: true },
  },
  {
    title: 'Jubilee bracelet 20 mm, steel',
    number: '62510H',
    category: 'bracelet',
    condition: 'good',
    price: 780,
    units: 1,
    fits: [
      ['Rolex', 'Datejust', '16014', '3035'],
      ['Rolex', 'GMT-Master', '1675', '1570'],
    ],
    about: 'Hollow links and end pieces 555. Tight for its age; thirteen links.',
  },
  {
    title: 'Omega bracelet 20 mm, polished and brushed',
    number: '020ST1503825',
    category: 'bracelet',
    condition: 'unworn',
    price: 590,
    units: 2,
    fits: [['Omega', 'Seamaster Diver 300M', '210.30.42.20.03.001', '8800']],
    about: 'The wave bracelet with the clasp that lengthens over a wetsuit.',
  },
  {
    title: 'Oyster links, set of three, steel',
    number: '93150-L3',
    category: 'bracelet_link',
    condition: 'mint',
    price: 120,
    units: 12,
    fits: [
      ['Rolex', 'Submariner', '16610', '3135'],
      ['Rolex', 'Explorer II', '16570', '3185'],
    ],
    about: 'Screwed links from watches whose owners have slim wrists.',
  },
  {
    title: 'Royal Oak link, steel',
    number: 'AP-15400-LNK',
    category: 'bracelet_link',
    condition: 'mint',
    price: 310,
    units: 3,
    fits: [['Audemars Piguet', 'Royal Oak', '15400ST.OO.1220ST.03', '3120']],
    about: 'One wide link with its two studs. Each differs in width: tell us its place in the bracelet.',
  },
  {
    title: 'Folding clasp 16 mm, steel',
    number: 'JLC-DBL-16',
    category: 'buckle',
    condition: 'unworn',
    price: 420,
    units: 2,
    fits: [
      ['Jaeger-LeCoultre', 'Reverso Classic', 'Q3858522', '822/2'],
      ['Jaeger-LeCoultre', 'Master Ultra Thin', 'Q1338421', '899'],
    ],
    about: 'Double folding clasp, opens with two pushers.',
  },
  {
    title: 'Pin buckle 18 mm, rose gold',
    number: 'PP-BKL-18R',
    category: 'buckle',
    condition: 'very_good',
    price: 980,
    units: 1,
    fits: [['Patek Philippe', 'Calatrava', '5227R-001', '324 S C']],
    about: 'Solid 18 carat, signed. A few hairlines on the tongue.',
    look: { metal: 'rose_gold' },
  },
  {
    title: 'Alligator strap 20/18 mm, brown',
    number: 'AE-ALG-2018-BR',
    category: 'strap',
    condition: 'unworn',
    price: 260,
    units: 8,
    fits: [
      ['Vacheron Constantin', 'Patrimony', '85180/000R-9248', '2450 Q6'],
      ['A. Lange & Söhne', 'Lange 1', '191.032', 'L121.1'],
      ['IWC', 'Portugieser Chronograph', 'IW371605', '69355'],
    ],
    about: 'Square scales, hand-stitched in our workshop; hides with papers.',
    look: { color: 'brown' },
  },
  {
    title: 'Rubber strap 22 mm, blue',
    number: 'AE-RUB-22-BL',
    category: 'strap',
    condition: 'unworn',
    price: 95,
    units: 15,
    fits: [
      ['Breitling', 'Superocean Heritage B20 42', 'AB2010161C1S1', 'B20'],
      ['Tudor', 'Pelagos', '25600TB', 'MT5612'],
    ],
    about: 'Vulcanised natural rubber that smells of vanilla for a week.',
    look: { color: 'blue' },
  },
  {
    title: 'Submariner dial, black, service',
    number: '13/16610-SVC',
    category: 'dial',
    condition: 'mint',
    price: 520,
    units: 1,
    fits: [['Rolex', 'Submariner Date', '16610', '3135']],
    about: 'Service dial with Super-LumiNova. Never fitted.',
    look: { color: '#17181b' },
  },
  {
    title: 'Black Bay dial, blue',
    number: 'T-79030B-DL',
    category: 'dial',
    condition: 'very_good',
    price: 210,
    units: 2,
    fits: [['Tudor', 'Black Bay Fifty-Eight', '79030B', 'MT5402']],
    about: 'Taken off a watch that was given another colour. One faint mark at the rim, under the rehaut.',
    look: { color: '#1f3d6e' },
  },
  {
    title: 'Sword hands, set of three',
    number: 'OM-072ST-SET',
    category: 'hands',
    condition: 'unworn',
    price: 130,
    units: 3,
    fits: [['Omega', 'Seamaster Planet Ocean', '2201.50.00', '2500']],
    about: 'Hours, minutes and seconds, filled with what glows green.',
  },
  {
    title: 'Dauphine hands, rose gold',
    number: 'AL-HND-RG-121',
    category: 'hands',
    condition: 'unworn',
    price: 480,
    units: 1,
    fits: [['A. Lange & Söhne', 'Lange 1', '191.032', 'L121.1']],
    about: 'Solid gold, bevelled by hand. To be fitted by a watchmaker only.',
    look: { metal: 'rose_gold', color: '#efc0a3' },
  },
  {
    title: 'Movement 2892-A2, complete',
    number: 'ETA-2892A2-ELB',
    category: 'movement',
    condition: 'unworn',
    price: 390,
    units: 4,
    fits: [
      ['IWC', 'Portofino Automatic', 'IW356501', '35111'],
      ['Oris', 'Divers Sixty-Five', '01 733 7707 4354', '733'],
    ],
    about: 'Elaboré grade, regulated in five positions, date at three.',
  },
  {
    title: 'Movement 7750, complete',
    number: 'ETA-7750-TOP',
    category: 'movement',
    condition: 'mint',
    price: 620,
    units: 2,
    fits: [
      ['IWC', 'Pilot’s Watch Chronograph', 'IW3777', '79320'],
      ['Breitling', 'Chronomat', 'A13356', 'B13'],
    ],
    about: 'Top grade, with day and date. Serviced and timed by us this spring.',
  },
  {
    title: 'Mainspring for 3135',
    number: 'SPR-3135-311',
    category: 'movement_part',
    condition: 'unworn',
    price: 42,
    units: 20,
    fits: [['Rolex', 'Submariner Date', '16610', '3135']],
    about: 'With its barrel spring, greased at the factory.',
  },
  {
    title: 'Reversing wheels, pair',
    number: 'RVW-3135-540',
    category: 'movement_part',
    condition: 'unworn',
    price: 96,
    units: 7,
    fits: [
      ['Rolex', 'Datejust', '16234', '3135'],
      ['Rolex', 'Submariner Date', '16610', '3135'],
    ],
    about: 'Red anodised originals have become rare; these are of the later series.',
  },
  {
    title: 'Chronograph pushers, pair, steel',
    number: 'RX-24-P116520',
    category: 'pusher',
    condition: 'unworn',
    price: 340,
    units: 2,
    fits: [['Rolex', 'Cosmograph Daytona', '116520', '4130']],
    about: 'Screw-down pushers with springs and gaskets.',
  },
  {
    title: 'Case, steel, 40 mm',
    number: 'HR-CAS-1675',
    category: 'case',
    condition: 'fair',
    price: 2_400,
    units: 1,
    fits: [['Rolex', 'GMT-Master', '1675', '1570']],
    about: 'Middle case of 1974 with pointed crown guards, once polished. The number is legible.',
  },
  {
    title: 'Gasket set, FKM',
    number: 'AE-GSK-SET-40',
    category: 'gasket',
    condition: 'unworn',
    price: 28,
    units: 40,
    fits: [
      ['Omega', 'Seamaster Diver 300M', '210.30.42.20.03.001', '8800'],
      ['Tudor', 'Black Bay 58 GMT', 'M7939G1A0NRU-0001', 'MT5450-U'],
    ],
    about: 'Back, crown and crystal. To be changed every three years by those who swim.',
    look: { color: '#26282b' },
  },
  {
    title: 'Spring bars 20 mm, set of four',
    number: 'AE-BAR-20-4',
    category: 'other',
    condition: 'unworn',
    price: 18,
    units: 60,
    fits: [
      ['Tudor', 'Black Bay 58 GMT', 'M7939G1A0NRU-0001', 'MT5450-U'],
      ['Omega', 'Speedmaster Moonwatch Professional', '310.30.42.50.01.001', '3861'],
    ],
    about: 'Double shoulder, 1.8 mm thick. Cheap insurance.',
  },
  {
    title: 'Presentation box, green',
    number: 'RX-BOX-M-39139',
    category: 'box',
    condition: 'good',
    price: 150,
    units: 3,
    fits: [['Rolex', 'Submariner Date', '126610LN', '3235']],
    about: 'Inner and outer box with pillow. Light marks on the outer one.',
    look: { color: '#1f4d38' },
  },
  {
    title: 'Extract from the archives',
    number: 'OM-ARC-EXT',
    category: 'papers',
    condition: 'unworn',
    price: 180,
    units: 5,
    fits: [['Omega', 'Constellation', '168.005', '561']],
    about: 'We order it in your name; the archive answers in six weeks with date and place of delivery.',
  },
  {
    title: 'Screwdrivers 1.6 and 1.2 mm',
    number: 'AE-TLS-SD2',
    category: 'tool',
    condition: 'unworn',
    price: 36,
    units: 10,
    fits: [
      ['Cartier', 'Santos de Cartier', 'WSSA0018', '1847 MC'],
      ['Rolex', 'Submariner Date', '126610LN', '3235'],
    ],
    about: 'For bracelet screws. Hardened blades that can be exchanged.',
    look: { color: '#7a1f2b' },
  },
];

export const DEMO_PARTS: readonly DemoPart[] = SPECS.map((spec) => {
  const [[brand]] = spec.fits;
  const models = [...new Set(spec.fits.map(([maker, model]) => `${maker} ${model}`))];
  return {
    title: spec.title,
    description: [
      spec.about,
      `Fits ${models.join(', ')}. If you are not sure, send us a photo of the case back and the old part; we answer the same day.`,
      'Shipped insured from Geneva. Fitting in our workshop on request.',
    ].join(' || '),
    price: spec.price,
    units: spec.units,
    attributes: {
      part_number: spec.number,
      category: spec.category,
      brand,
      condition: spec.condition,
      compatibility: spec.fits.map(([maker, model, reference_number, caliber]) => ({
        brand: maker,
        model,
        reference_number,
        caliber,
      })),
    },
    look: { metal: 'steel', color: spec.category === 'hands' ? '#eef3df' : '#24426e', ...spec.look },
  };
});
