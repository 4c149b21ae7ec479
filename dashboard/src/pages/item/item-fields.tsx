import {
  Autocomplete,
  MultiSelect,
  NumberInput,
  Select,
  SimpleGrid,
  Switch,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { CATALOGUE, type Enumeration } from '../../../../src/contract/catalogue.ts';
import { exponentOf } from '../../../../src/contract/currencies.ts';
import {
  AMOUNT_LIMIT,
  DESCRIPTION_LENGTH_LIMIT,
  STOCK_NUMBER_LENGTH_LIMIT,
  STRING_LENGTH_LIMIT,
  UNITS_LIMIT,
} from '../../../../src/contract/limits.ts';
import { formatNumber } from '../../format.ts';
import type { Kind } from '../stock/stock-queries.ts';
import { ATTRIBUTES, type AttributeField } from './attributes.ts';
import type { ItemValues } from './item-form.ts';
import type { ItemChoices } from './item-queries.ts';

export type ItemFieldsProps = {
  kind: Kind;
  choices: ItemChoices;
  values: ItemValues;
  /** By field; attributes as `attributes.brand`. */
  errors: Record<string, string>;
  onChange: (changes: Partial<ItemValues>) => void;
};

/** Everything that people type about an item, with its limits beside it. */
export function ItemFields(props: ItemFieldsProps) {
  const { kind, values, errors, onChange } = props;
  const setAttribute = (name: string, value: unknown) =>
    onChange({ attributes: { ...values.attributes, [name]: value } });
  return (
    <>
      <MainFields {...props} />
      {ATTRIBUTES[kind].map(({ title, fields }) => (
        <section key={title} className="item-section" aria-label={title}>
          <Title order={2} size="h4">
            {title}
          </Title>
          <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
            {fields.map((field) => (
              <AttributeInput
                key={field.name}
                field={field}
                value={values.attributes[field.name]}
                error={errors[`attributes.${field.name}`]}
                brands={props.choices.brands}
                onChange={(value) => setAttribute(field.name, value)}
              />
            ))}
          </SimpleGrid>
        </section>
      ))}
      <PrivateFields {...props} />
    </>
  );
}

function MainFields({ kind, choices, values, errors, onChange }: ItemFieldsProps) {
  const locations = choices.locations.map(({ id, name, business_unit }) => ({
    value: id,
    label: `${business_unit}, ${name}`,
  }));
  const defaultTax = CATALOGUE.tax_treatment[choices.default_tax_treatment as 'vat_included'];
  return (
    <section className="item-section" aria-label="Main">
      <TextInput
        label="Title"
        required
        maxLength={STRING_LENGTH_LIMIT}
        value={values.title}
        error={errors.title}
        onChange={(event) => onChange({ title: event.currentTarget.value })}
      />
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
        <TextInput
          label="Stock number"
          required
          maxLength={STOCK_NUMBER_LENGTH_LIMIT}
          value={values.stock_number}
          error={errors.stock_number}
          onChange={(event) => onChange({ stock_number: event.currentTarget.value })}
        />
        <MoneyInput
          label="Price"
          placeholder="On request"
          currency={choices.currency}
          amount={values.price_amount}
          error={errors.price_amount}
          onChange={(amount) => onChange({ price_amount: amount })}
        />
        <NumberInput
          label={kind === 'part' ? 'Units to sell' : 'Units'}
          min={0}
          max={UNITS_LIMIT}
          allowDecimal={false}
          value={values.units}
          error={errors.units}
          onChange={(value) => onChange({ units: Number(value) || 0 })}
        />
        <Select
          label="Tax"
          placeholder={`Default: ${defaultTax}`}
          clearable
          data={optionsOf('tax_treatment')}
          value={values.tax_treatment}
          error={errors.tax_treatment}
          onChange={(value) => onChange({ tax_treatment: value as ItemValues['tax_treatment'] })}
        />
        <Select
          label="Location"
          placeholder={locations.length === 0 ? 'No locations yet' : 'None'}
          clearable
          searchable
          data={locations}
          value={values.location_id}
          error={errors.location_id}
          onChange={(value) => onChange({ location_id: value })}
        />
      </SimpleGrid>
      <Textarea
        label="Description"
        description={`|| begins a new paragraph. ${formatNumber(values.description.length)} of ${formatNumber(DESCRIPTION_LENGTH_LIMIT)} characters.`}
        autosize
        minRows={4}
        maxRows={16}
        maxLength={DESCRIPTION_LENGTH_LIMIT}
        value={values.description}
        error={errors.description}
        onChange={(event) => onChange({ description: event.currentTarget.value })}
      />
      {values.description.includes('||') ? <Paragraphs text={values.description} /> : null}
    </section>
  );
}

function Paragraphs({ text }: { text: string }) {
  const paragraphs = text.split('||').map((one) => one.trim());
  return (
    <section className="item-paragraphs" aria-label="Description as paragraphs">
      {paragraphs
        .filter((one) => one !== '')
        .map((one, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two paragraphs may be alike; their place tells them apart.
          <Text key={index} size="sm">
            {one}
          </Text>
        ))}
    </section>
  );
}

function PrivateFields({ choices, values, errors, onChange }: ItemFieldsProps) {
  return (
    <section className="item-section" aria-label="Private">
      <Title order={2} size="h4">
        Private
      </Title>
      <Text size="sm" c="dimmed">
        No site ever reads these.
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
        <TextInput
          label="Serial number"
          maxLength={STRING_LENGTH_LIMIT}
          value={values.serial_number ?? ''}
          error={errors.serial_number}
          onChange={(event) => onChange({ serial_number: event.currentTarget.value || null })}
        />
        {choices.sees_cost ? (
          <MoneyInput
            label="Cost"
            currency={choices.currency}
            amount={values.cost_amount}
            error={errors.cost_amount}
            onChange={(amount) => onChange({ cost_amount: amount })}
          />
        ) : null}
      </SimpleGrid>
      <Textarea
        label="Notes"
        autosize
        minRows={2}
        maxLength={DESCRIPTION_LENGTH_LIMIT}
        value={values.private_notes}
        error={errors.private_notes}
        onChange={(event) => onChange({ private_notes: event.currentTarget.value })}
      />
    </section>
  );
}

type MoneyInputProps = {
  label: string;
  currency: string;
  amount: number | null;
  placeholder?: string;
  error?: string | undefined;
  onChange: (amount: number | null) => void;
};

/** An amount in minor units, typed in whole units of its currency. */
export function MoneyInput({ label, currency, amount, placeholder, error, onChange }: MoneyInputProps) {
  const decimals = exponentOf(currency);
  const unit = 10 ** decimals;
  return (
    <NumberInput
      label={`${label} (${currency})`}
      placeholder={placeholder}
      min={0}
      max={AMOUNT_LIMIT / unit}
      decimalScale={decimals}
      thousandSeparator=","
      hideControls
      value={amount === null ? '' : amount / unit}
      error={error}
      onChange={(value) => onChange(value === '' ? null : Math.round(Number(value) * unit))}
    />
  );
}

type AttributeInputProps = {
  field: AttributeField;
  value: unknown;
  error: string | undefined;
  brands: string[];
  onChange: (value: unknown) => void;
};

function AttributeInput({ field, value, error, brands, onChange }: AttributeInputProps) {
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
          min={field.min}
          max={field.max}
          decimalScale={field.decimals ?? 0}
          suffix={field.unit === undefined ? '' : ` ${field.unit}`}
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
          data={optionsOf(field.of)}
          searchable
          value={Array.isArray(value) ? (value as string[]) : []}
          onChange={onChange}
        />
      );
    case 'text':
      return field.name === 'brand' ? (
        <Autocomplete
          {...common}
          data={brands}
          maxLength={STRING_LENGTH_LIMIT}
          value={String(value ?? '')}
          onChange={(text) => onChange(text === '' && !isRequired ? null : text)}
        />
      ) : (
        <TextInput
          {...common}
          maxLength={STRING_LENGTH_LIMIT}
          value={String(value ?? '')}
          onChange={(event) =>
            onChange(event.currentTarget.value === '' && !isRequired ? null : event.currentTarget.value)
          }
        />
      );
  }
}

function optionsOf(name: Enumeration): { value: string; label: string }[] {
  return Object.entries(CATALOGUE[name]).map(([value, label]) => ({ value, label }));
}
