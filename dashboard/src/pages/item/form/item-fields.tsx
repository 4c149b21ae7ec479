import { NumberInput, Select, SimpleGrid, Text, Textarea, TextInput, Title } from '@mantine/core';
import { ENUMERATIONS } from '../../../../../src/contract/enumerations.ts';
import {
  DESCRIPTION_LENGTH_LIMIT,
  STOCK_NUMBER_LENGTH_LIMIT,
  STRING_LENGTH_LIMIT,
  UNITS_LIMIT,
} from '../../../../../src/contract/limits.ts';
import { formatMoney, formatNumber, formatPercent } from '../../../format.ts';
import type { Kind } from '../../stock/stock-queries.ts';
import { ATTRIBUTES } from '../attributes.ts';
import type { ItemChoices } from '../item-queries.ts';
import { MoneyInput } from '../money-input.tsx';
import { AttributeInput, lengthHint, optionsOf } from './attribute-input.tsx';
import { CompatibilityEditor } from './compatibility-editor.tsx';
import type { ItemValues } from './item-form.ts';

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
      {kind === 'part' ? (
        <CompatibilityEditor
          value={values.attributes.compatibility}
          brands={props.choices.brands}
          error={errors['attributes.compatibility']}
          onChange={(fits) => setAttribute('compatibility', fits)}
        />
      ) : null}
      <PrivateFields {...props} />
    </>
  );
}

function MainFields({ choices, values, errors, onChange }: ItemFieldsProps) {
  const locations = choices.locations.map(({ id, name, business_unit }) => ({
    value: id,
    label: `${business_unit}, ${name}`,
  }));
  const defaultTax = ENUMERATIONS.tax_treatment[choices.default_tax_treatment as 'vat_included'];
  return (
    <section className="item-section" aria-label="Main">
      <TextInput
        label="Title"
        required
        description={lengthHint(values.title)}
        maxLength={STRING_LENGTH_LIMIT}
        value={values.title}
        error={errors.title}
        onChange={(event) => onChange({ title: event.currentTarget.value })}
      />
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="sm">
        <TextInput
          label="Stock number"
          required
          description={lengthHint(values.stock_number, STOCK_NUMBER_LENGTH_LIMIT)}
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
          label="Units to sell"
          min={0}
          max={UNITS_LIMIT}
          clampBehavior="none"
          allowDecimal={false}
          allowNegative={false}
          placeholder="e.g. 1"
          value={values.units ?? ''}
          error={errors.units}
          onChange={(value) => onChange({ units: value === '' ? null : Number(value) })}
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

/** What is left of the price, once both amounts are known. */
function marginText({ price_amount: price, cost_amount: cost }: ItemValues, currency: string): string | undefined {
  if (price === null || cost === null || price <= 0 || cost < 0) return undefined;
  return `Margin ${formatMoney(price - cost, currency)}, ${formatPercent((price - cost) / price)}`;
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
          description={lengthHint(values.serial_number ?? '')}
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
            description={marginText(values, choices.currency)}
            error={errors.cost_amount}
            onChange={(amount) => onChange({ cost_amount: amount })}
          />
        ) : null}
      </SimpleGrid>
      <Textarea
        label="Notes"
        description={lengthHint(values.private_notes, DESCRIPTION_LENGTH_LIMIT)}
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
