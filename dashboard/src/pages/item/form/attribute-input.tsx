import { Autocomplete, MultiSelect, NumberInput, Select, Switch, TextInput } from '@mantine/core';
import { ENUMERATIONS, type Enumeration } from '../../../../../src/contract/enumerations.ts';
import { STRING_LENGTH_LIMIT } from '../../../../../src/contract/limits.ts';
import { NUMBER_SEPARATORS } from '../../../format.ts';
import type { AttributeField } from '../attributes.ts';
import { shortNumber } from './item-problems.ts';

type AttributeInputProps = {
  field: AttributeField;
  value: unknown;
  error: string | undefined;
  brands: string[];
  onChange: (value: unknown) => void;
};

/** One attribute of a watch or a part, with its limits beside it. */
export function AttributeInput({ field, value, error, brands, onChange }: AttributeInputProps) {
  const { label, isRequired = false } = field;
  const common = { label, required: isRequired, error };
  switch (field.type) {
    case 'yes-no':
      return (
        <Switch
          className="item-switch"
          label={label}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case 'number':
      return (
        <NumberInput
          {...common}
          placeholder={`${shortNumber(field.min)} – ${shortNumber(field.max)}${unitOf(field)}`}
          min={field.min}
          max={field.max}
          clampBehavior="none"
          decimalScale={field.decimals ?? 0}
          decimalSeparator={NUMBER_SEPARATORS.decimal}
          suffix={unitOf(field)}
          hideControls
          value={typeof value === 'number' ? value : ''}
          onChange={(next) => onChange(next === '' ? null : Number(next))}
        />
      );
    case 'one':
      return (
        <Select
          {...common}
          data={optionsOf(field.of)}
          clearable={!isRequired}
          allowDeselect={!isRequired}
          searchable
          value={typeof value === 'string' ? value : null}
          onChange={onChange}
        />
      );
    case 'many':
      return (
        <MultiSelect
          {...common}
          className="item-wide"
          data={optionsOf(field.of)}
          searchable
          value={Array.isArray(value) ? (value as string[]) : []}
          onChange={onChange}
        />
      );
    case 'text':
      return (
        <TextAttribute
          common={common}
          value={value}
          brands={field.name === 'brand' ? brands : null}
          onChange={onChange}
        />
      );
  }
}

type TextAttributeProps = {
  common: { label: string; required: boolean; error: string | undefined };
  value: unknown;
  /** Makers that the dealer has in stock, to be offered; null for other texts. */
  brands: string[] | null;
  onChange: (value: unknown) => void;
};

function TextAttribute({ common, value, brands, onChange }: TextAttributeProps) {
  const text = String(value ?? '');
  const change = (next: string) => onChange(next === '' && !common.required ? null : next);
  const shown = { ...common, maxLength: STRING_LENGTH_LIMIT, value: text, description: lengthHint(text) };
  return brands === null ? (
    <TextInput {...shown} onChange={(event) => change(event.currentTarget.value)} />
  ) : (
    <Autocomplete {...shown} data={brands} onChange={change} />
  );
}

const HINT_FROM = 0.8;

/** Says how long a text may be, from where it matters. */
export function lengthHint(text: string, limit = STRING_LENGTH_LIMIT): string | undefined {
  return text.length < limit * HINT_FROM ? undefined : `${text.length} of ${limit} characters`;
}

function unitOf({ unit }: { unit?: string }): string {
  return unit === undefined ? '' : ` ${unit}`;
}

export function optionsOf(name: Enumeration): { value: string; label: string }[] {
  return Object.entries(ENUMERATIONS[name]).map(([value, label]) => ({ value, label }));
}
