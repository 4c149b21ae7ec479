import { ActionIcon, Autocomplete, Button, Text, TextInput, Title } from '@mantine/core';
import { useRef } from 'react';
import { STRING_LENGTH_LIMIT } from '../../../../../src/contract/limits.ts';
import type { PartAttributes } from '../../../../../src/contract/resources/part.ts';
import { Icon } from '../../../ui/icons.tsx';
import { useKeptFocus } from '../../../ui/kept-focus.ts';

type Fit = PartAttributes['compatibility'][number];

/** As many as the contract takes. */
const FITS_LIMIT = 200;
const EMPTY: Fit = { brand: null, model: null, reference_number: null, caliber: null };
const FIELDS: { name: keyof Fit; label: string; placeholder: string }[] = [
  { name: 'brand', label: 'Brand', placeholder: 'Any' },
  { name: 'model', label: 'Model', placeholder: 'Any' },
  { name: 'reference_number', label: 'Reference', placeholder: 'Any' },
  { name: 'caliber', label: 'Caliber', placeholder: 'Any' },
];

type CompatibilityEditorProps = {
  value: unknown;
  brands: string[];
  error: string | undefined;
  onChange: (fits: Fit[]) => void;
};

/** Which watches and movements a part fits, a line for each. */
export function CompatibilityEditor({ value, brands, error, onChange }: CompatibilityEditorProps) {
  const fits = Array.isArray(value) ? (value as Fit[]) : [];
  const section = useRef<HTMLElement>(null);
  useKeptFocus(section, String(fits.length));
  const change = (index: number, changes: Partial<Fit>) =>
    onChange(fits.map((fit, at) => (at === index ? { ...fit, ...changes } : fit)));
  return (
    <section ref={section} className="item-section" aria-label="Fits">
      <Title order={2} size="h4">
        Fits
      </Title>
      <Text size="sm" c="dimmed">
        The watches and movements that this part fits. What you leave empty fits any.
      </Text>
      {fits.map((fit, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a line is known by its place; two may be alike.
        <fieldset key={index} className="fit-line" aria-label={`Fit ${index + 1}`}>
          {FIELDS.map(({ name, label, placeholder }) => {
            const common = {
              label,
              placeholder,
              maxLength: STRING_LENGTH_LIMIT,
              value: fit[name] ?? '',
              size: 'xs',
            } as const;
            const set = (text: string) => change(index, { [name]: text === '' ? null : text });
            return name === 'brand' ? (
              <Autocomplete key={name} {...common} data={brands} onChange={set} />
            ) : (
              <TextInput key={name} {...common} onChange={(event) => set(event.currentTarget.value)} />
            );
          })}
          <ActionIcon
            variant="subtle"
            color="gray"
            aria-label={`Remove fit ${index + 1}`}
            title={`Remove fit ${index + 1}`}
            onClick={() => onChange(fits.filter((_, at) => at !== index))}
          >
            <Icon name="close" size={16} />
          </ActionIcon>
        </fieldset>
      ))}
      {error === undefined ? null : (
        <Text size="sm" c="var(--ruby)" role="alert">
          {error}
        </Text>
      )}
      <Button
        size="xs"
        variant="default"
        className="fit-add"
        disabled={fits.length >= FITS_LIMIT}
        onClick={() => onChange([...fits, EMPTY])}
      >
        Add a watch
      </Button>
      {fits.length === 0 ? null : (
        <Text size="xs" c="dimmed">
          {fits.length} of {FITS_LIMIT}
        </Text>
      )}
    </section>
  );
}
